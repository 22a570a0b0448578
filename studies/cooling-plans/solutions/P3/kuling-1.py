import logging

logger = logging.getLogger(__name__)

TARGET = 25.0
KP_FAN = 0.1
KP_SUPPLY = 0.5


def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    try:
        valid = [t for t in inlets if t is not None]
        if not valid:
            logger.warning("No valid sensor readings")
            return fan, supply

        # Proportional control on the average temperature
        error = sum(valid) / len(valid) - TARGET
        fan = fan + KP_FAN * error
        supply = supply - KP_SUPPLY * error

        # Clamp to the limits
        fan = max(0.3, min(1.0, fan))
        supply = max(16.0, min(24.0, supply))
        if supply < dew_point:
            supply = dew_point
        return fan, supply
    except Exception as error:
        logger.error("Controller error: %s", error)
        return fan, supply
