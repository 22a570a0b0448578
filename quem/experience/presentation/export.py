"""The content of analysis.json, as plain data (see ``docs/reference/analysis-json.md``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quem.experience.expected_ranks import ExpectedRanks
    from quem.experience.findings import ExperienceFindings
    from quem.experience.influence import LeaveOneOut

__all__ = ["analysis_dict"]


def analysis_dict(findings: ExperienceFindings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    findings : ExperienceFindings
    """
    spec = findings.study.spec
    worths = {"plackett_luce": _worths(findings, findings.pooled)} if findings.pooled else {}
    return {
        "format": 1,
        "kind": spec.kind,
        "study": {"id": spec.id, "title": spec.title, "experience_unit": spec.experience_unit},
        "settings": findings.settings.model_dump(mode="json"),
        "warnings": [{"code": d.code, "message": d.message} for d in findings.warnings],
        "averages": _averages(findings),
        **worths,
        "skill_function": _skill_function(findings),
        "forms": [
            {
                "form": name,
                "coefficients": fitted.function.coefficients,
                "r_squared": fitted.function.r_squared,
                "aicc": fitted.aicc,
                "loo_rmse": fitted.loo_rmse,
            }
            for name, fitted in findings.forms.items()
        ],
        "estimates": _estimates(findings),
        "agreement": _agreement(findings),
        "influence": {
            "judges": [_left_out(left) for left in findings.judges] if findings.cells else None,
            "subjects": [_left_out(left) for left in findings.subjects],
            "problems": [_left_out(left) for left in findings.problems] if findings.cells else None,
            "recognized": _recognized(findings),
        },
        "residuals": [asdict(diagnostic) for diagnostic in findings.diagnostics],
        "variants": [asdict(variant) for variant in findings.variants],
        "anova": None
        if findings.anova is None
        else [
            {"model": row.model, "term": row.term, "df": row.df, "F": row.f, "p": row.p}
            for row in findings.anova
        ],
        "bootstrap": _bootstrap(findings),
    }


def _averages(findings: ExperienceFindings) -> list[dict[str, Any]]:
    averages = findings.averages
    known = findings.cells is not None
    return [
        {
            "solver": solver,
            "kind": averages.kinds[i],
            "experience": float(averages.experience[i]),
            "average_rank": float(averages.average[i]),
            "n_ranks": int(averages.n_ranks[i]) if known else None,
        }
        for i, solver in enumerate(averages.solvers)
        if averages.kinds[i] != "withheld"
    ]


def _worths(findings: ExperienceFindings, pooled: ExpectedRanks) -> dict[str, Any]:
    kinds = zip(findings.averages.solvers, findings.averages.kinds, strict=True)
    return {
        "n_rankings": pooled.n_rankings,
        "ridge": pooled.ridge,
        "log_likelihood": pooled.model.log_likelihood,
        "ties": [{"size": size, "delta": delta} for size, delta in pooled.model.ties.items()],
        "worths": [
            {"solver": solver, "log_worth": float(pooled.model.log_worth[i])}
            for i, (solver, kind) in enumerate(kinds)
            if kind != "withheld" and pooled.ranked[i]
        ],
    }


def _skill_function(findings: ExperienceFindings) -> dict[str, Any]:
    function, permutation = findings.function, findings.permutation
    return {
        "form": function.form.name,
        "coefficients": function.coefficients,
        "r_squared": function.r_squared,
        "residual_sd": function.residual_sd,
        "n": function.n,
        "f_value": function.f_value,
        "df": [function.form.degree, function.df],
        "p_value": findings.p_value,
        "permutation_p": permutation.p if permutation else None,
        "permutation_extreme": permutation.extreme if permutation else None,
        "permutation_orders": permutation.orders if permutation else None,
        "permutation_exact": permutation.exact if permutation else None,
    }


def _estimates(findings: ExperienceFindings) -> list[dict[str, Any]]:
    versions = {system.id: system.version for system in findings.study.spec.systems}
    return [
        {
            "system": estimate.system,
            "version": versions.get(estimate.system, ""),
            "average_rank": estimate.average_rank,
            "n_problems": estimate.n_problems if findings.cells else None,
            "experience": estimate.experience,
            "prediction_interval": list(estimate.prediction),
            "mean_interval": list(estimate.mean),
            "calibration": {
                "experience": estimate.calibration.experience,
                "interval": list(estimate.calibration.interval),
            }
            if estimate.calibration
            else None,
            "lower_bound": estimate.bound if estimate.side == "above" else None,
            "upper_bound": estimate.bound if estimate.side == "below" else None,
            "inside_range": estimate.side == "inside",
            "probability_at_least": [{"years": y, "p": p} for y, p in estimate.at_least],
        }
        for estimate in findings.estimates
    ]


def _agreement(findings: ExperienceFindings) -> dict[str, Any] | None:
    retest = _retest(findings)
    if findings.agreement is None:
        return {"problems": [], "overall": None, "retest": retest} if retest else None
    overall = findings.agreement.overall
    return {
        "problems": [
            {
                "problem": problem,
                "n_judges": concordance.n_judges,
                "n_solutions": concordance.n_solutions,
                **concordance.statistics(),
            }
            for problem, concordance in findings.agreement.problems.items()
        ],
        "overall": {
            "n_judges": overall.n_judges,
            "n_units": overall.n_solutions,
            **overall.statistics(),
        },
        "retest": retest,
    }


def _retest(findings: ExperienceFindings) -> dict[str, Any] | None:
    if findings.retest is None:
        return None
    judges = findings.retest.judges
    return {
        "judges": [{"judge": judge, **asdict(own)} for judge, own in judges.items()],
        "overall": {"n_judges": len(judges), **asdict(findings.retest.overall)},
    }


def _left_out(left: LeaveOneOut) -> dict[str, Any]:
    return {
        "id": left.id,
        "system": left.system,
        "estimate": left.estimate,
        "interval": [left.low, left.high],
        "change": left.change,
    }


def _recognized(findings: ExperienceFindings) -> dict[str, Any] | None:
    if findings.recognized is None:
        return None
    return {
        "n_ranks": findings.recognized.n_ranks,
        "n_judges": findings.recognized.n_judges,
        "estimates": [
            {key: value for key, value in _left_out(left).items() if key != "id"}
            for left in findings.recognized.estimates
        ],
    }


def _bootstrap(findings: ExperienceFindings) -> dict[str, Any] | None:
    if findings.bootstrap is None:
        return None
    return {
        "replicates": findings.bootstrap.replicates,
        "discarded": findings.bootstrap.discarded,
        "systems": [
            {
                "system": system,
                "interval": list(interval),
                "standard_deviation": findings.bootstrap.spread[system],
            }
            for system, interval in findings.bootstrap.intervals.items()
        ],
    }
