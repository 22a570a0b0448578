"""Steps 6 to 8: the skill function, experience on average rank, and its bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit, fdtrc

from quem.experience.predictive import IDENTITY, LOGARITHM, Predictive, mixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.experience.predictive import Response


_LEAST_FOR_CUBIC = 12
_KEEP_LINEAR = 2.0
_ROUNDING = 1e-10


@dataclass(frozen=True)
class SkillForm:
    """A family of curves: a polynomial in a transformed average rank, or an average of such."""

    name: str
    # From average rank to the regressor g(x).
    transform: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    derivative: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # g'(x)
    degree: int = 1
    positive: bool = False  # whether the form is defined only for averages above 0
    regressor: str = "{}"  # how the regressor is written in an equation, of what is averaged
    response: Response = IDENTITY  # what of experience is regressed on it
    # The forms that this one is the average of, with as many coefficients each; empty for a single
    # form.
    averaged: tuple[SkillForm, ...] = ()

    @property
    def parts(self) -> tuple[SkillForm, ...]:
        """The forms that it is the average of, or itself."""
        return self.averaged or (self,)

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
_LINEAR = SkillForm("linear", _same, _one)
_EXPONENTIAL = SkillForm("exponential", _same, _one, response=LOGARITHM)
FORMS = {
    form.name: form
    for form in (
        _LINEAR,
        SkillForm("sqrt", np.sqrt, _half_inverse_root, positive=True, regressor="√({})"),
        SkillForm("log", np.log, _inverse, positive=True, regressor="ln({})"),
        SkillForm("quadratic", _same, _one, degree=2),
        SkillForm("cubic", _same, _one, degree=3),
        _EXPONENTIAL,
        SkillForm("averaged", _same, _one, averaged=(_LINEAR, _EXPONENTIAL)),
    )
}


class Added(NamedTuple):
    """A variance of averages that is estimated: in squared scores, with its degrees of freedom."""

    variance: float
    df: int


@dataclass(frozen=True)
class Regression:
    """A regression of the response of experience on average rank."""

    form: SkillForm  # a single one
    # Of shape (n,): average rank and experience of the subjects
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    results: Any  # in units of the response

    @property
    def rss(self) -> float:
        """The residual sum of squares, and 0 for what rounding leaves of a perfect fit."""
        rss = float(self.results.ssr)
        return rss * (rss > _ROUNDING**2 * float(self.results.centered_tss))

    @property
    def deviance(self) -> float:
        """Twice the negative log-likelihood of experience, but for a constant."""
        return float(deviance(self.form, self.rss, self.y, np.ones(len(self.y))))

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Experience at an average rank, any shape."""
        return self.form.response.inverse(np.asarray(self.form.design(x) @ self.results.params))

    def predictive(
        self,
        x: NDArray[np.float64],
        widened: NDArray[np.float64] | float,
        *,
        mean: bool,
        added: Added | None = None,
    ) -> Predictive:
        r"""Give the distribution of a peer at `x`, or where the mean of such people is.

        Its variance is :math:`s^2(1 + x'(X'X)^{-1}x) + b^2 w` with the slope b at `x`, for the
        mean :math:`s^2 x'(X'X)^{-1}x`.
        """
        results, design = self.results, self.form.design(x)
        inverse = results.normalized_cov_params
        variance = results.scale * np.einsum("...i,ij,...j->...", design, inverse, design)
        if not mean:
            # Near a rank of 0 the slope of a logarithm can be too large to be squared.
            extra = self.form.slopes(x) @ results.params * np.sqrt(widened)
            variance = variance + results.scale + extra**2
        df = np.full(x.shape, float(results.df_resid))
        if added:
            more = (self.form.slopes(x) @ results.params) ** 2 * added.variance
            total = variance + more
            df = total**2 / (variance**2 / df + more**2 / added.df)
            variance = total
        center = np.asarray(design @ results.params)
        return Predictive(
            (self.form.response,),
            np.ones((1, *center.shape)),
            center[np.newaxis],
            np.sqrt(variance)[np.newaxis],
            df[np.newaxis],
        )

    def polynomial(self, averaged: str) -> str:
        """Write the response out, such as ``-1.54 + 1.55 x average rank``."""
        # What rounding leaves of a coefficient of 0 is not worth a line of digits.
        scale = _ROUNDING * float(np.abs(self.form.response.transform(self.y)).max())
        first, *rest = np.where(np.abs(self.results.params) < scale, 0.0, self.results.params)
        text = f"{'−' if first < 0 else ''}{abs(first):.4g}"
        for power, b in enumerate(rest, 1):
            sign = "+" if b >= 0 else "−"
            exponent = ("", "", "²", "³")[power]
            text += f" {sign} {abs(b):.4g} × {self.form.regressor.format(averaged)}{exponent}"
        return text


@dataclass(frozen=True)
class SkillFunction:
    """A fitted skill function: a regression, or the weighted average of several."""

    form: SkillForm
    # Of shape (n,): average rank and experience of the subjects
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    regressions: tuple[Regression, ...]  # where they are several, the first is the line
    weights: tuple[float, ...] = (1.0,)  # of the regressions; they add up to 1

    @property
    def n(self) -> int:
        """The number of subjects."""
        return len(self.x)

    @property
    def coefficients(self) -> dict[str, float]:
        """Intercept, slope and, where there are any, quadratic and cubic.

        Of an average those of the line, those of the exponential, and its weight.
        """
        names = ("intercept", "slope", "quadratic", "cubic")
        line, *others = self.regressions
        values = dict(zip(names, map(float, line.results.params), strict=False))
        for other, weight in zip(others, self.weights[1:], strict=True):
            own = dict(zip(names, map(float, other.results.params), strict=False))
            own["weight"] = weight
            values |= {f"{other.form.name}_{name}": value for name, value in own.items()}
        return values

    @property
    def df(self) -> int:
        """Residual degrees of freedom."""
        return int(self.regressions[0].results.df_resid)

    @property
    def residual_sd(self) -> float:
        """The residual standard deviation, in units of experience."""
        return float(np.sqrt(((self.y - self.predict(self.x)) ** 2).sum() / self.df))

    @property
    def r_squared(self) -> float:
        """The share of the variance of experience that the function explains."""
        left = ((self.y - self.predict(self.x)) ** 2).sum()
        return float(1 - left / ((self.y - self.y.mean()) ** 2).sum())

    @property
    def f_value(self) -> float:
        """F of the test over subjects that experience goes with quality; infinite if perfect.

        Of the response; for an average it is that of the line.
        """
        line = self.regressions[0]
        return float(line.results.mse_model / line.results.mse_resid) if line.rss else float("inf")

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
        parts = zip(self.weights, self.regressions, strict=True)
        return np.asarray(sum(weight * part.predict(x) for weight, part in parts))

    def predictive(
        self,
        x: NDArray[np.float64],
        widened: NDArray[np.float64] | float = 0.0,
        *,
        mean: bool = False,
        added: Added | None = None,
    ) -> Predictive:
        """Give the distribution of a peer at `x`, or where the mean of such people is."""
        parts = (part.predictive(x, widened, mean=mean, added=added) for part in self.regressions)
        return mixed(tuple(parts), self.weights)

    def equation(self, unit: str, averaged: str = "average rank") -> str:
        """Write the function out, such as ``years = -1.54 + 1.55 x average rank``."""
        texts = [part.polynomial(averaged) for part in self.regressions]
        if len(texts) == 1:
            return f"{self.form.response.written.format(unit)} = {texts[0]}"
        parts = [
            f"{weight:.3g} × ({part.form.response.inverted.format(text)})"
            for weight, part, text in zip(self.weights, self.regressions, texts, strict=True)
        ]
        return f"{unit} = {' + '.join(parts)}"


def deviance(
    form: SkillForm,
    rss: NDArray[np.float64] | float,
    y: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> NDArray[np.float64]:
    r"""Give n ln(RSS/n) less twice the sum of the response's logarithmic slopes at y.

    So that responses can be compared: both are likelihoods of the same experience.

    Shapes: `rss` (b,); `y` (n,) or (b, n); `counts` (n,) or (b, n).
    """
    n = counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = n * np.log(rss / n)
    return np.asarray(fitted - 2 * (counts * form.response.log_slope(y)).sum(axis=-1))


def averaging_weights(
    line: NDArray[np.float64] | float, other: NDArray[np.float64] | float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weigh two regressions with as many coefficients by their AICc, whose differences these are.

    Shapes: `line`, `other` (...); `of_line`, `of_other` (...).
    """
    with np.errstate(invalid="ignore"):
        weight = expit((np.asarray(line) - np.asarray(other)) / 2)
    weight = np.nan_to_num(weight)
    return 1 - weight, weight


def refusal(form: SkillForm, x: NDArray[np.float64], x_needed: NDArray[np.float64]) -> str:
    """Say why a form cannot be fitted, in a sentence; empty where it can."""
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

    Shapes: `x`, `y` (n,).
    """
    from statsmodels.regression.linear_model import OLS

    regressions = tuple(
        Regression(part, x, y, OLS(part.response.transform(y), part.design(x)).fit())
        for part in form.parts
    )
    if not form.averaged:
        return SkillFunction(form, x, y, regressions)
    first, second = averaging_weights(*(part.deviance for part in regressions))
    return SkillFunction(form, x, y, regressions, (float(first), float(second)))


@dataclass(frozen=True)
class FormFit:
    """How well a form fits."""

    function: SkillFunction
    # The deviance + 2K + 2K(K+1)/(n-K-1), K = coefficients + 1; infinite for n <= K + 1.
    aicc: float
    loo_rmse: float  # root mean squared error of leaving each subject out in turn


def compare_forms(
    x: NDArray[np.float64], y: NDArray[np.float64], x_needed: NDArray[np.float64]
) -> dict[str, FormFit]:
    """Fit every form that can be fitted, but for averages of others.

    Shapes: `x`, `y` (n,).
    """
    return {
        name: _form_fit(fit(form, x, y))
        for name, form in FORMS.items()
        if not form.averaged and not refusal(form, x, x_needed)
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
    (regression,) = function.regressions
    aicc = regression.deviance + 2 * k
    aicc = aicc + 2 * k * (k + 1) / (n - k - 1) if n > k + 1 else np.inf
    results, response = regression.results, function.form.response
    design = function.form.design(function.x)
    leverage = np.einsum("ij,jk,ik->i", design, results.normalized_cov_params, design)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without a subject of leverage 1 there is no function left to be wrong.
        left_out = results.resid / np.where(1 - leverage < _ROUNDING, np.nan, 1 - leverage)
    without = response.inverse(response.transform(function.y) - left_out)
    return FormFit(function, aicc, float(np.sqrt(np.mean((function.y - without) ** 2))))


SIGNIFICANT = 0.05
# Of fewer, what passes the test was lucky: 8% to 36% of such intervals miss, where 5% should.
FEWEST_SUBJECTS = 5
# Also codes of warnings, the gravest first.
Reason = Literal["decreasing-skill-function", "not-significant", "few-subjects"]
REASONS: tuple[Reason, ...] = ("decreasing-skill-function", "not-significant", "few-subjects")


@dataclass(frozen=True)
class Gate:
    """Why a study states no years."""

    reasons: tuple[Reason, ...]  # empty where it states them

    @property
    def passed(self) -> bool:
        """Whether years may be stated."""
        return not self.reasons


def gate_of(function: SkillFunction) -> Gate:
    """Say whether a skill function allows years: it rises, significantly, over enough subjects."""
    holds = (
        function.falling_share == 1,
        not function.p_value < SIGNIFICANT,
        function.n < FEWEST_SUBJECTS,
    )
    return Gate(tuple(reason for reason, is_so in zip(REASONS, holds, strict=True) if is_so))
