"""Steps 6 to 8: the skill function, experience on average rank, and its bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import fdtrc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["FORMS", "FormFit", "SkillForm", "SkillFunction", "choose_form", "compare_forms", "fit"]

_LEAST_FOR_CUBIC = 12
_KEEP_LINEAR = 2.0
_ROUNDING = 1e-10


@dataclass(frozen=True)
class SkillForm:
    """A family of curves: a polynomial in a transformed average rank.

    Parameters
    ----------
    transform : callable
        From average rank to the regressor g(x).
    derivative : callable
        g'(x).
    positive : bool
        Whether the form is defined only for averages above 0.
    regressor : str
        How the regressor is written in an equation, of what is averaged.
    """

    name: str
    transform: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    derivative: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    degree: int = 1
    positive: bool = False
    regressor: str = "{}"

    @property
    def n_coefficients(self) -> int:
        """Intercept included."""
        return self.degree + 1

    def design(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Regressors at `x`, shape (..., n_coefficients)."""
        return self.transform(x)[..., np.newaxis] ** np.arange(self.n_coefficients)

    def slopes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivatives of the regressors at `x`, shape (..., n_coefficients)."""
        powers = np.arange(self.n_coefficients)
        lower = self.transform(x)[..., np.newaxis] ** np.maximum(powers - 1, 0)
        return powers * lower * self.derivative(x)[..., np.newaxis]


def _same(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x


def _one(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.ones_like(x)


def _half_inverse_root(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 / np.sqrt(x))


def _inverse(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / x)


# Named functions and no lambdas, so that results can be pickled.
FORMS = {
    form.name: form
    for form in (
        SkillForm("linear", _same, _one),
        SkillForm("sqrt", np.sqrt, _half_inverse_root, positive=True, regressor="√({})"),
        SkillForm("log", np.log, _inverse, positive=True, regressor="ln({})"),
        SkillForm("quadratic", _same, _one, degree=2),
        SkillForm("cubic", _same, _one, degree=3),
    )
}


@dataclass(frozen=True)
class SkillFunction:
    """A fitted skill function.

    Parameters
    ----------
    x, y : array of float, shape (n,)
        Average rank and experience of the subjects.
    """

    form: SkillForm
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    results: Any

    @property
    def n(self) -> int:
        """The number of subjects."""
        return len(self.x)

    @property
    def coefficients(self) -> dict[str, float]:
        """Intercept, slope and, where there are any, quadratic and cubic."""
        names = ("intercept", "slope", "quadratic", "cubic")
        return dict(zip(names, map(float, self.results.params), strict=False))

    @property
    def df(self) -> int:
        """Residual degrees of freedom."""
        return int(self.results.df_resid)

    @property
    def residual_sd(self) -> float:
        """The residual standard deviation s, in units of experience."""
        return float(np.sqrt(self.results.scale))

    @property
    def r_squared(self) -> float:
        """The share of the variance of experience that the function explains."""
        return float(self.results.rsquared)

    @property
    def f_value(self) -> float:
        """F of the test over subjects that experience goes with quality; infinite if perfect."""
        rounding = _ROUNDING**2 * float(self.results.centered_tss)
        if float(self.results.ssr) <= rounding:
            return float("inf")
        return float(self.results.mse_model / self.results.mse_resid)

    @property
    def p_value(self) -> float:
        """The p value of that test."""
        return float(fdtrc(self.form.degree, self.df, self.f_value))

    @property
    def falling_share(self) -> float:
        """The share of the subjects' range of quality over which experience falls."""
        grid = np.linspace(self.x.min(), self.x.max(), 201)
        return float((np.diff(self.predict(grid)) < 0).mean())

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Experience at an average rank, any shape."""
        return np.asarray(self.form.design(x) @ self.results.params)

    def mean_variance(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the variance of the fitted mean at `x`: :math:`s^2 x'(X'X)^{-1}x`."""
        design = self.form.design(x)
        covariance = self.results.cov_params()
        return np.asarray(np.einsum("...i,ij,...j->...", design, covariance, design))

    def slope_at(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much experience rises with average rank at `x`."""
        return np.asarray(self.form.slopes(x) @ self.results.params)

    def equation(self, unit: str, averaged: str = "average rank") -> str:
        """Write the function out, such as ``years = -1.54 + 1.55 x average rank``."""
        # What rounding leaves of a coefficient of 0 is not worth a line of digits.
        scale = _ROUNDING * float(np.abs(self.y).max())
        first, *rest = np.where(np.abs(self.results.params) < scale, 0.0, self.results.params)
        text = f"{unit} = {'−' if first < 0 else ''}{abs(first):.4g}"
        for power, b in enumerate(rest, 1):
            sign = "+" if b >= 0 else "−"
            exponent = ("", "", "²", "³")[power]
            text += f" {sign} {abs(b):.4g} × {self.form.regressor.format(averaged)}{exponent}"
        return text


def refusal(form: SkillForm, x: NDArray[np.float64], x_needed: NDArray[np.float64]) -> str:
    """Say why a form cannot be fitted, in a sentence; empty where it can.

    Parameters
    ----------
    x : array of float
        The subjects' averages.
    x_needed : array of float
        Averages at which the function will be evaluated.
    """
    if form.name == "cubic" and len(x) < _LEAST_FOR_CUBIC:
        return f"a cubic skill function needs {_LEAST_FOR_CUBIC} subjects, and there are {len(x)}"
    if len(x) <= form.n_coefficients:
        return (
            f"a {form.name} skill function needs {form.n_coefficients + 1} subjects, "
            f"and there are {len(x)}"
        )
    if len(np.unique(x.round(9))) < form.n_coefficients:
        return f"a {form.name} skill function needs {form.n_coefficients} different average ranks"
    if form.positive and min(x.min(), x_needed.min(initial=np.inf)) <= 0:
        return f"the form {form.name} is not defined for averages of 0 or less"
    if np.linalg.matrix_rank(form.design(x)) < form.n_coefficients:
        return f"the average ranks are spread too unevenly for a {form.name} skill function"
    return ""


def fit(form: SkillForm, x: NDArray[np.float64], y: NDArray[np.float64]) -> SkillFunction:
    """Fit the skill function by least squares (Hayes & Parzen 1997, step 7).

    Parameters
    ----------
    x, y : array of float, shape (n,)
        Average rank and experience of the subjects; systems never enter the fit.
    """
    from statsmodels.regression.linear_model import OLS

    return SkillFunction(form, x, y, OLS(y, form.design(x)).fit())


@dataclass(frozen=True)
class FormFit:
    """How well a form fits.

    Parameters
    ----------
    aicc : float
        n ln(RSS/n) + 2K + 2K(K+1)/(n-K-1), K = coefficients + 1; infinite for n <= K + 1.
    loo_rmse : float
        Root mean squared error of leaving each subject out in turn.
    """

    function: SkillFunction
    aicc: float
    loo_rmse: float


def compare_forms(
    x: NDArray[np.float64], y: NDArray[np.float64], x_needed: NDArray[np.float64]
) -> dict[str, FormFit]:
    """Fit every form that can be fitted.

    Parameters
    ----------
    x, y : array of float, shape (n,)
    x_needed : array of float
        The systems' averages.

    Returns
    -------
    dict of str to FormFit
    """
    return {
        name: _form_fit(fit(form, x, y))
        for name, form in FORMS.items()
        if not refusal(form, x, x_needed)
    }


def choose_form(fits: dict[str, FormFit]) -> str:
    """Choose the form of lowest AICc, keeping linear unless it loses by more than 2.

    A cubic is never chosen.
    """
    candidates = {name: form_fit.aicc for name, form_fit in fits.items() if name != "cubic"}
    best = min(candidates, key=lambda name: candidates[name], default="linear")
    if best == "linear":
        return best
    return best if candidates["linear"] - candidates[best] > _KEEP_LINEAR else "linear"


def _form_fit(function: SkillFunction) -> FormFit:
    n, k = function.n, function.form.n_coefficients + 1
    # What rounding leaves of a perfect fit must not decide between forms.
    rss = float(function.results.ssr)
    rss *= rss > _ROUNDING**2 * float(function.results.centered_tss)
    with np.errstate(divide="ignore"):
        aicc = float(n * np.log(rss / n)) + 2 * k
    aicc = aicc + 2 * k * (k + 1) / (n - k - 1) if n > k + 1 else np.inf
    design = function.form.design(function.x)
    leverage = np.einsum("ij,jk,ik->i", design, function.results.normalized_cov_params, design)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without a subject of leverage 1 there is no function left to be wrong.
        left_out = function.results.resid / np.where(1 - leverage < _ROUNDING, np.nan, 1 - leverage)
    return FormFit(function, aicc, float(np.sqrt(np.mean(left_out**2))))
