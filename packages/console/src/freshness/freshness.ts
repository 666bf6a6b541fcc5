import { language } from '../texts/texts.ts'

/** From this age on, what the page shows is DELAYED. */
export const DELAYED_MS = 400
/** From this age on, it is BLIND. */
export const BLIND_MS = 1_000

/** How long the page waits for the first picture, and for the first frame of a connection, before they count as missing. */
const CONNECTING_MS = 5_000

/** How far the user can trust what the page shows. `CONNECTING`: the first picture, or the connection, is not there yet. */
type FreshnessState = 'CONNECTING' | 'LIVE' | 'DELAYED' | 'BLIND'
/** A source of what the page shows. `firstPicture`: there was no picture yet. `camera`: it cannot be reached, so its picture is old. */
export type FreshnessSource = 'picture' | 'firstPicture' | 'camera' | 'telemetry' | 'link'

/** The ages of the newest data of each source in milliseconds, by the clock of this browser. */
export interface FreshnessAges {
  /** Undefined for a robot without a camera; `unknown` for a camera whose frames the browser does not report. */
  readonly pictureMs: number | 'unknown' | undefined
  /** The part of `pictureMs` that is the delay of the transport, which does not grow. */
  readonly pictureDelayMs?: number
  /** Whether there was no picture yet. */
  readonly isPictureAwaited?: boolean
  /** Whether the last attempt to reach the camera failed. */
  readonly isCameraUnreachable?: boolean
  /** Undefined for a robot that has sent no telemetry. */
  readonly telemetryMs: number | undefined
  /** The last frame of any kind, or the attempt to connect if there was none yet. */
  readonly linkMs: number
  /** Whether nothing has arrived over the connection yet. */
  readonly isLinkAwaited?: boolean
}

export interface Freshness {
  readonly state: FreshnessState
  /** The age of the oldest source in milliseconds; while BLIND without a break, it never falls. */
  readonly ageMs: number
  readonly oldest: FreshnessSource
  /** Whether the age of the picture is unknown. The state is then at best DELAYED. */
  readonly isPictureUnknown: boolean
}

const stateOfAge = (ageMs: number): FreshnessState =>
  ageMs >= BLIND_MS ? 'BLIND' : ageMs >= DELAYED_MS ? 'DELAYED' : 'LIVE'

/** Returns the freshness of the whole, which is that of its oldest source. */
export function freshnessOf(ages: FreshnessAges): Freshness {
  const { pictureMs, telemetryMs, linkMs } = ages
  const isPictureUnknown = pictureMs === 'unknown'
  const isLinkAwaited = ages.isLinkAwaited === true && linkMs < CONNECTING_MS
  const isPictureAwaited =
    ages.isPictureAwaited === true && typeof pictureMs === 'number' && pictureMs < CONNECTING_MS
  let [ageMs, oldest]: [number, FreshnessSource] = [isLinkAwaited ? 0 : linkMs, 'link']
  // Telemetry, and mostly the picture, are lost with the link: its silence explains their ages.
  const isLinkSilent = stateOfAge(ageMs) === 'BLIND'
  const consider = (sourceMs: number, source: FreshnessSource) => {
    if (sourceMs > ageMs) [ageMs, oldest] = [sourceMs, isLinkSilent ? 'link' : source]
  }
  if (telemetryMs !== undefined) consider(telemetryMs, 'telemetry')
  if (typeof pictureMs === 'number' && !isPictureAwaited) consider(pictureMs, pictureSource(ages))
  const state = stateOfAge(ageMs)
  if (state !== 'BLIND' && (isLinkAwaited || isPictureAwaited))
    return {
      state: 'CONNECTING',
      ageMs: 0,
      oldest: isLinkAwaited ? 'link' : 'firstPicture',
      isPictureUnknown,
    }
  if (state === 'LIVE' && isPictureUnknown)
    return { state: 'DELAYED', ageMs, oldest: 'picture', isPictureUnknown }
  return { state, ageMs, oldest, isPictureUnknown }
}

const pictureSource = ({ isCameraUnreachable, isPictureAwaited }: FreshnessAges): FreshnessSource =>
  isCameraUnreachable ? 'camera' : isPictureAwaited ? 'firstPicture' : 'picture'

/** Returns how long the page has been without anything new of its oldest source. */
const silenceOf = (ages: FreshnessAges): number => {
  const { pictureMs, pictureDelayMs = 0 } = ages
  return typeof pictureMs === 'number'
    ? freshnessOf({ ...ages, pictureMs: pictureMs - pictureDelayMs }).ageMs
    : freshnessOf(ages).ageMs
}

/**
 * Returns a function like `freshnessOf` that remembers since when the page has been BLIND: when one source is back before the
 * others, the cause changes, and the age goes on.
 */
export function createFreshnessTracker(): (ages: FreshnessAges, nowMs: number) => Freshness {
  let sinceMs: number | undefined
  return (ages, nowMs) => {
    const freshness = freshnessOf(ages)
    if (freshness.state !== 'BLIND' || silenceOf(ages) < BLIND_MS) {
      sinceMs = undefined
      return freshness
    }
    sinceMs = Math.min(sinceMs ?? nowMs, nowMs - freshness.ageMs)
    return { ...freshness, ageMs: nowMs - sinceMs }
  }
}

const FINE_STEP_MS = 20
const COARSE_STEP_MS = 100

/** Returns whether both look the same on the page, so that it need not render again. */
export function looksEqual(before: Freshness, after: Freshness): boolean {
  if (before.state !== after.state || before.isPictureUnknown !== after.isPictureUnknown) return false
  if (after.state === 'LIVE' || after.state === 'CONNECTING' || after.ageMs < DELAYED_MS) return true
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

/** The ages of what arrives over a connection to the gateway. */
export type LinkAges = Pick<FreshnessAges, 'telemetryMs' | 'linkMs' | 'isLinkAwaited'>

/** Short, so that the answers show a lost connection within a second also without telemetry. */
export const PING_MS = 250

/**
 * Returns a function that returns the ages of a connection at the time of the call.
 * @param source `silentMs`: how long the present link has received no frame, null before the first one; `telemetry`:
 *   how old the newest sample is
 */
export function linkAgesOf(source: {
  readonly silentMs: () => number | null
  readonly telemetry: { ageMs(): number | undefined }
}): () => LinkAges {
  let sinceMs = performance.now()
  let isLinkAwaited = true
  return () => {
    const nowMs = performance.now()
    const silentMs = source.silentMs()
    // A new link knows nothing of the one before it, so that the last frame of that one counts.
    if (silentMs !== null) {
      sinceMs = nowMs - silentMs
      isLinkAwaited = false
    }
    return { linkMs: nowMs - sinceMs, telemetryMs: source.telemetry.ageMs(), isLinkAwaited }
  }
}
