def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""

    def clamp(value, low, high):
        return max(low, min(high, value))

    # Believe only readings that can be true.
    valid = [t for t in inlets if t is not None and 0 < t < 60]
    min_supply = max(16.0, dew_point + 2)

    if len(valid) < len(inlets) / 2:
        # Safe state: full fan, coldest air that does not condense.
        target_fan, target_supply = 1.0, min_supply
    else:
        hottest = max(valid)
        target_fan, target_supply = fan, supply
        if hottest > 26.5:
            target_fan, target_supply = 1.0, min_supply
        elif hottest > 26:
            target_supply = supply - 0.5
            if supply <= min_supply:
                target_fan = fan + 0.05
        elif hottest < 24:
            # Warm supply air is cheap, so raise it before slowing the fan.
            if supply < 24:
                target_supply = supply + 0.5
            else:
                target_fan = fan - 0.05

    new_fan = clamp(target_fan, fan - 0.05, fan + 0.05)
    new_supply = clamp(target_supply, supply - 0.5, supply + 0.5)
    new_fan = clamp(new_fan, 0.3, 1.0)
    new_supply = clamp(new_supply, min_supply, 24.0)
    return new_fan, new_supply
