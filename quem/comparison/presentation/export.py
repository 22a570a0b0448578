"""The content of analysis.json of a comparison (see ``docs/reference/analysis-json.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quem.comparison.assistance import AssistanceGain, PersonUplift
    from quem.comparison.findings import ComparisonFindings
    from quem.comparison.independent import IndependentDifference
    from quem.comparison.pair_tests import PairTest
    from quem.comparison.pairs import Pair
    from quem.comparison.system_estimates import SystemEstimate
    from quem.comparison.versions import Progression

__all__ = ["comparison_dict"]


def comparison_dict(comparison: ComparisonFindings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    comparison : ComparisonFindings
    """
    studies = [
        {
            "id": study.study.spec.id,
            "title": study.study.spec.title,
            "experience_unit": study.study.spec.experience_unit,
            "settings": study.settings.model_dump(mode="json"),
        }
        for study in comparison.studies
    ]
    return {
        "format": 1,
        "kind": "comparison",
        "mode": comparison.mode,
        "study": {key: studies[0][key] for key in ("id", "title", "experience_unit")}
        if len(studies) == 1
        else None,
        "studies": studies,
        "settings": {
            "test": comparison.test,
            "level": comparison.level,
            "systems": list(comparison.chosen),
        },
        "warnings": [{"code": d.code, "message": d.message} for d in comparison.warnings],
        "estimates": [_estimate(standing) for standing in comparison.standings],
        "pairs": [_pair(pair) for pair in comparison.pairs],
        "independent": [_apart(apart) for apart in comparison.apart],
        "progressions": [_progression(progression) for progression in comparison.progressions],
        "uplifts": [_uplift(uplift) for uplift in comparison.uplifts],
    }


def _ref(standing: SystemEstimate) -> dict[str, Any]:
    return {"study": standing.study, "system": standing.system}


def _estimate(standing: SystemEstimate) -> dict[str, Any]:
    estimate = standing.estimate
    return {
        **_ref(standing),
        "name": standing.name,
        "version": standing.version,
        "of": standing.of,
        "date": str(standing.date) if standing.date else None,
        "average_rank": estimate.average_rank,
        "experience": estimate.experience,
        "prediction_interval": list(estimate.prediction),
        "lower_bound": estimate.bound if estimate.side == "above" else None,
        "upper_bound": estimate.bound if estimate.side == "below" else None,
        "inside_range": estimate.side == "inside",
    }


def _test(test: PairTest) -> dict[str, Any]:
    return {
        "p": test.p,
        "t": test.statistic,
        "df": test.df,
        "interval": list(test.interval),
        "patterns": test.patterns or None,
        "extreme": test.extreme if test.patterns else None,
        "exact": test.exact if test.patterns else None,
        "reason": test.reason,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    paired, years = pair.paired, pair.years
    shares = paired.share_won_by_problem.tolist() if paired.problems else []
    differences = paired.by_problem.tolist() if paired.problems else []
    return {
        "a": pair.a,
        "b": pair.b,
        "n_judges": len(paired.judges),
        "n_problems": len(paired.problems),
        "n_cells": paired.n_cells,
        "mean_difference": paired.mean,
        "interval": list(pair.interval),
        "p": pair.test.p,
        "p_holm": pair.p_holm,
        "tests": {name: _test(test) for name, test in pair.tests.items()},
        "share_won": paired.share_won,
        "years": years.years,
        "years_calibrated": years.calibrated,
        "years_by_worths": years.by_worths,
        "years_interval": list(years.interval) if years.interval else None,
        "years_reason": years.reason,
        "problems": [
            {"problem": problem, "difference": difference, "share_won": share}
            for problem, difference, share in zip(paired.problems, differences, shares, strict=True)
        ],
    }


def _apart(apart: IndependentDifference) -> dict[str, Any]:
    return {
        "a": _ref(apart.a),
        "b": _ref(apart.b),
        "years": apart.years,
        "standard_error": apart.error,
        "df": apart.df,
        "interval": list(apart.interval),
        "lower_bound": apart.lower,
        "upper_bound": apart.upper,
        "p": apart.p,
        "p_holm": apart.p_holm,
        "reason": apart.reason,
    }


def _progression(progression: Progression) -> dict[str, Any]:
    return {
        "of": progression.of,
        "dated": progression.dated,
        "versions": [_ref(version) for version in progression.versions],
        "steps": [
            {
                "years": step.years,
                "mean_difference": step.pair.paired.mean if step.pair else None,
                "p": step.p,
                "p_holm": step.p_holm,
            }
            for step in progression.steps
        ],
    }


def _uplift(uplift: AssistanceGain) -> dict[str, Any]:
    return {
        "system": uplift.system,
        "n_problems": uplift.n_problems,
        "n_sets": uplift.n_sets,
        **_gain(uplift),
        "people": [
            {
                "assisted": person.assisted,
                "person": person.person,
                "unaided_problems": list(person.unaided_problems),
                "aided_problems": list(person.aided_problems),
                "unaided": person.unaided,
                "aided": person.aided,
                **_gain(person),
                "p_holm": person.p_holm,
            }
            for person in uplift.people
        ],
    }


def _gain(gained: AssistanceGain | PersonUplift) -> dict[str, Any]:
    test = gained.test
    return {
        "gain": gained.gain,
        "interval": list(test.interval),
        "t": test.statistic,
        "df": test.df,
        "p": test.p,
        "years": gained.years,
        "years_calibrated": gained.calibrated,
    }
