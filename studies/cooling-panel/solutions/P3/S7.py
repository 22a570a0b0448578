def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    good = [t for t in inlets if t is not None and 0 < t < 60]
    lowest = max(16.0, dew_point + 2)

    if len(good) < len(inlets) / 2:
        fan, supply = fan + 0.05, supply - 0.5
    else:
        hottest = max(good)
        if hottest > 26:
            fan, supply = fan + 0.05, supply - 0.5
        elif hottest < 24 and fan > 0.3:
            fan -= 0.05
        elif hottest < 24:
            supply += 0.5

    fan = min(1.0, max(0.3, fan))
    supply = max(lowest, min(24.0, supply))
    return fan, supply
