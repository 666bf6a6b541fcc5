/** The charge must exceed the threshold by this much before the battery counts as charged again. */
const BATTERY_RECOVERED_BY = 0.05

/**
 * Contains the assignments of a statement that updates `robot_presence p` from an input `i` with `battery` and
 * `battery_ms`. Both are null until the robot reports a charge. A comparison with null is not true, so these assignments
 * then change nothing.
 */
export const batterySql = `
  battery = coalesce(i.battery, p.battery),
  battery_at = coalesce(to_timestamp(i.battery_ms / 1000), p.battery_at),
  battery_low = case
    when i.battery < p.low_battery_threshold then true
    when i.battery >= least(p.low_battery_threshold + ${BATTERY_RECOVERED_BY}, 1) then false
    else p.battery_low end,
  battery_low_notified = p.battery_low_notified
    and i.battery >= least(p.low_battery_threshold + ${BATTERY_RECOVERED_BY}, 1) is not true`
