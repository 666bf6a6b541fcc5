import { language } from '../texts/texts.ts'

/** From this age on, what the page shows is DELAYED. */
export const DELAYED_MS = 400
/** From this age on, it is BLIND. */
export const BLIND_MS = 1_000

/** How far the user can trust what the page shows. */
export type FreshnessState = 'LIVE' | 'DELAYED' | 'BLIND'
export type FreshnessSource = 'picture' | 'telemetry' | 'link'

/** The ages of the newest data of each source in milliseconds, by the clock of this browser. */
export interface FreshnessAges {
  /** Undefined for a robot without a camera; `unknown` for a camera whose frames the browser does not report. */
  readonly pictureMs: number | 'unknown' | undefined
  /** Undefined for a robot that has sent no telemetry. */
  readonly telemetryMs: number | undefined
  /** The last frame of any kind, or the attempt to connect if there was none yet. */
  readonly linkMs: number
}

export interface Freshness {
  readonly state: FreshnessState
  /** The age of the oldest source, in milliseconds. */
  readonly ageMs: number
  readonly oldest: FreshnessSource
  /** Whether the age of the picture is unknown. The state is then at best DELAYED. */
  readonly isPictureUnknown: boolean
}

const stateOfAge = (ageMs: number): FreshnessState =>
  ageMs >= BLIND_MS ? 'BLIND' : ageMs >= DELAYED_MS ? 'DELAYED' : 'LIVE'

/** Returns the freshness of the whole, which is that of its oldest source. */
export function freshnessOf({ pictureMs, telemetryMs, linkMs }: FreshnessAges): Freshness {
  const isPictureUnknown = pictureMs === 'unknown'
  let [ageMs, oldest]: [number, FreshnessSource] = [linkMs, 'link']
  // Telemetry arrives over the link, so a silent link explains its age.
  const isLinkSilent = stateOfAge(linkMs) === 'BLIND'
  if (telemetryMs !== undefined && telemetryMs > ageMs && !isLinkSilent)
    [ageMs, oldest] = [telemetryMs, 'telemetry']
  if (typeof pictureMs === 'number' && pictureMs > ageMs) [ageMs, oldest] = [pictureMs, 'picture']
  const state = stateOfAge(ageMs)
  if (state === 'LIVE' && isPictureUnknown)
    return { state: 'DELAYED', ageMs, oldest: 'picture', isPictureUnknown }
  return { state, ageMs, oldest, isPictureUnknown }
}

const FINE_STEP_MS = 20
const COARSE_STEP_MS = 100

/** Returns whether both look the same on the page, so that it need not render again. */
export function looksEqual(before: Freshness, after: Freshness): boolean {
  if (before.state !== after.state || before.isPictureUnknown !== after.isPictureUnknown) return false
  if (after.state === 'LIVE' || after.ageMs < DELAYED_MS) return true
  const stepMs = after.state === 'BLIND' ? COARSE_STEP_MS : FINE_STEP_MS
  const isSameStep = Math.floor(before.ageMs / stepMs) === Math.floor(after.ageMs / stepMs)
  return before.oldest === after.oldest && isSameStep
}

// Symbols of units are the same in every language, unlike the abbreviations of `Intl`.
const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** Returns an age as `420 ms`, `2.1 s`, `12 s` or `3 min`; rounded down. */
export function ageText(ageMs: number): string {
  if (ageMs < 1_000) return `${whole.format(Math.floor(ageMs / FINE_STEP_MS) * FINE_STEP_MS)} ms`
  if (ageMs < 10_000) return `${tenths.format(Math.floor(ageMs / COARSE_STEP_MS) / 10)} s`
  if (ageMs < 120_000) return `${whole.format(Math.floor(ageMs / 1_000))} s`
  return `${whole.format(Math.floor(ageMs / 60_000))} min`
}
