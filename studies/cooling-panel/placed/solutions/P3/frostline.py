def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    readings = [t for t in inlets if t is not None and t > 0]
    if len(readings) < len(inlets) // 2:
        return 1.0, max(16.0, dew_point + 2)
    hottest = max(readings)
    if hottest > 25.5:
        fan += 0.05
        supply -= 0.5
    elif hottest < 24:
        fan -= 0.05
        supply += 0.5
    fan = max(0.3, min(1.0, fan))
    supply = max(16.0, min(24.0, supply))
    return fan, max(supply, dew_point + 2)
