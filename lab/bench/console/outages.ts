import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Environment } from './environment.ts'

/** The loss of a connection that lasted this long resets the delays between the page's attempts to reconnect. */
const STABLE_MS = 6_000
const BETWEEN_SILENCES_MS = 1_000
/** Time between two pings of the page: the silences begin at any moment between them. */
const PING_MS = 250
const LIMIT_MS = 60_000

/** The cockpit's connections after a restart, each in milliseconds. */
export interface Relinked {
  /** From the new process serving until the cockpit is connected to gateway and hub. */
  readonly afterStart: readonly number[]
  /** The same from the request to end the old process. */
  readonly afterStop: readonly number[]
}

export const IS_LIVE = `document.querySelector('[data-testid=freshness]')?.dataset.state === 'LIVE'`
/** Whether the top bar shows the connection to the gateway as open, and no problem with that to the hub. */
const IS_LINKED = `((text) => text.includes('Connected') && !/onnecting|Offline/.test(text))(
  document.querySelector('section[aria-label=Status]')?.textContent ?? '')`

/** Returns when the page first shows a condition, in milliseconds by the clock of the browser: the machine's own. */
export async function shownAtMs(page: Page, condition: string): Promise<number> {
  const atMs = await page.evaluate(`new Promise((shown) => {
    const untilMs = Date.now() + ${LIMIT_MS}
    const look = () => {
      if (${condition}) shown(Date.now())
      else if (Date.now() > untilMs) shown(undefined)
      else requestAnimationFrame(look)
    }
    look()
  })`)
  if (typeof atMs !== 'number') throw new Error(`Within ${LIMIT_MS} ms the page did not show: ${condition}`)
  return atMs
}

/**
 * Pauses Wheelhouse, so that all connections stay open and fall silent, as on a lost network; the camera goes on. Returns after how many
 * milliseconds the badge was no longer LIVE.
 */
export async function measureSilences(page: Page, environment: Environment, count: number) {
  const noticedMs: number[] = []
  for (let run = 0; run < count; run++) {
    await delay(BETWEEN_SILENCES_MS + Math.random() * PING_MS)
    await shownAtMs(page, IS_LIVE)
    const pausedAtMs = Date.now()
    environment.pause()
    try {
      noticedMs.push((await shownAtMs(page, `!(${IS_LIVE})`)) - pausedAtMs)
    } finally {
      environment.resume()
    }
  }
  return noticedMs
}

/** Restarts Wheelhouse while the cockpit is open. */
export async function measureRestarts(
  page: Page,
  environment: Environment,
  count: number,
): Promise<Relinked> {
  const [afterStart, afterStop]: [number[], number[]] = [[], []]
  for (let run = 0; run < count; run++) {
    await shownAtMs(page, IS_LINKED)
    await delay(STABLE_MS)
    const stopAtMs = Date.now()
    await environment.stop()
    await shownAtMs(page, `!(${IS_LINKED})`)
    const [linkedAtMs, startedAtMs] = await Promise.all([
      shownAtMs(page, IS_LINKED),
      environment.start().then(Date.now),
    ])
    afterStart.push(Math.max(0, linkedAtMs - startedAtMs))
    afterStop.push(linkedAtMs - stopAtMs)
  }
  return { afterStart, afterStop }
}
