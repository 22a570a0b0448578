"""Steps 6 to 8: the paper's line, years of experience on average rank by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import fdtrc, stdtrit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FormName = Literal["linear", "log", "quadratic"]
FEWEST_SUBJECTS, SIGNIFICANT = 5, 0.05
_ROUNDING = 1e-18
_ALONE = 1e-9  # 1 - leverage below this is 0
# The columns besides the intercept.
_DESIGNS: dict[str, Callable[[Floats], list[Floats]]] = {
    "linear": lambda x: [x],
    "log": lambda x: [np.log(x)],
    "quadratic": lambda x: [x, x**2],
    "cubic": lambda x: [x, x**2, x**3],
}


def design(form: str, x: Floats) -> Floats:
    """The design matrix of a form, shape (n, number of coefficients)."""
    return np.column_stack([np.ones_like(x), *_DESIGNS[form](x)])


@dataclass(frozen=True)
class Line:
    """Years regressed on average rank, exactly as published (Hayes & Parzen 1997)."""

    form: FormName
    x: Floats  # of shape (n,): the subjects' average ranks
    y: Floats  # of shape (n,): their years
    fitted: Any  # the fit by statsmodels

    @property
    def coefficients(self) -> list[float]:
        """Intercept, slope, and the coefficient of the squared rank of a quadratic."""
        return [float(one) for one in self.fitted.params]

    @property
    def df(self) -> int:
        """Residual degrees of freedom."""
        return int(self.fitted.df_resid)

    @property
    def residual_sd(self) -> float:
        """The residual standard deviation, in units of experience."""
        return float(np.sqrt(self.fitted.mse_resid))

    @property
    def r_squared(self) -> float:
        """The share of the variance of experience that the line explains."""
        return float(self.fitted.rsquared)

    @property
    def p_value(self) -> float:
        """The p value of the F test over subjects for the slope."""
        residual = float(self.fitted.mse_resid)
        if residual <= _ROUNDING * float(self.fitted.mse_total):
            return 0.0
        degree = len(self.fitted.params) - 1
        return float(fdtrc(degree, self.df, self.fitted.mse_model / residual))

    @property
    def rises(self) -> bool:
        """Whether experience rises from the lowest to the highest rank of the subjects."""
        low, high = self.predict(np.array([self.x.min(), self.x.max()]))
        return bool(high > low)

    @property
    def holds(self) -> bool:
        """Whether the line may lead: it rises, is significant, and has at least five subjects."""
        return self.rises and self.p_value < SIGNIFICANT and len(self.y) >= FEWEST_SUBJECTS

    def predict(self, x: Floats) -> Floats:
        """Years at average ranks, shape as `x`."""
        return np.asarray(design(self.form, x) @ self.fitted.params)

    def intervals(self, x: float, level: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """The prediction interval at an average rank, and the confidence interval for the mean."""
        row = design(self.form, np.array([x]))[0]
        center = float(row @ self.fitted.params)
        leverage = float(row @ self.fitted.normalized_cov_params @ row)
        t = float(stdtrit(self.df, (1 + level) / 2)) * self.residual_sd
        one, mean = t * np.sqrt(1 + leverage), t * np.sqrt(leverage)
        return (center - one, center + one), (center - mean, center + mean)

    def bands(self, x: Floats, level: float) -> tuple[Floats, Floats]:
        """Half-widths of both intervals at average ranks, shape as `x`."""
        rows = design(self.form, x)
        leverage = np.einsum("ij,jk,ik->i", rows, self.fitted.normalized_cov_params, rows)
        t = float(stdtrit(self.df, (1 + level) / 2)) * self.residual_sd
        return t * np.sqrt(1 + leverage), t * np.sqrt(leverage)


def fit_line(x: Floats, y: Floats, form: FormName = "linear") -> Line:
    """Fit years to average ranks by ordinary least squares.

    Shapes: `x`, `y` (n,).
    """
    from statsmodels.regression.linear_model import OLS

    return Line(form, x, y, OLS(y, design(form, x)).fit())


def refusal(form: FormName, x: Floats, needed: Floats) -> str:
    """Why a form cannot be fitted; empty where it can."""
    n_coefficients = len(_DESIGNS[form](x)) + 1
    if len(x) <= n_coefficients:
        return f"a {form} line needs {n_coefficients + 1} subjects, and there are {len(x)}"
    if len(np.unique(x.round(9))) < n_coefficients:
        return f"a {form} line needs {n_coefficients} different average ranks"
    if form == "log" and min(x.min(), needed.min(initial=np.inf)) <= 0:
        return "the form log is not defined for averages of 0 or less"
    return ""


def leave_one_out(form: str, x: Floats, y: Floats) -> float | None:
    """The leave-one-out root mean squared error of the years; None if undefined."""
    rows = design(form, x)
    if len(y) <= rows.shape[1] or np.linalg.matrix_rank(rows) < rows.shape[1]:
        return None
    hat = rows @ np.linalg.pinv(rows)
    left = 1 - np.diag(hat)
    # A subject with leverage 1 cannot be predicted from the others.
    return float(np.sqrt((((y - hat @ y) / left) ** 2).mean())) if left.min() > _ALONE else None
