import { z } from 'zod'

const Pose = z.looseObject({ x_m: z.number(), y_m: z.number(), heading_rad: z.number() })
const DEGREES = 180 / Math.PI
/** More fields do not fit on a line. */
const MAX_FIELDS = 6
const MAX_TEXT = 40

/** Returns a telemetry sample as one line, with a pose first, not escaped. */
export function telemetryText(data: unknown): string {
  if (typeof data !== 'object' || data === null) return short(data)
  const { pose, ...rest } = data as Record<string, unknown>
  const known = poseText(pose)
  const fields = Object.entries(known ? rest : data)
    .filter(([, value]) => typeof value !== 'object')
    .slice(0, MAX_FIELDS)
    .map(([name, value]) => `${name} ${short(value)}`)
  return [...(known ? [known] : []), ...fields].join(', ')
}

/** Returns a pose as text; undefined for any other value. */
export function poseText(value: unknown): string | undefined {
  const pose = Pose.safeParse(value).data
  if (!pose) return undefined
  const [x, y, degrees] = [pose.x_m.toFixed(2), pose.y_m.toFixed(2), (pose.heading_rad * DEGREES).toFixed(0)]
  return `x ${x} m, y ${y} m, ${degrees}°`
}

function short(value: unknown): string {
  const text = typeof value === 'number' ? String(Math.round(value * 1_000) / 1_000) : String(value)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
