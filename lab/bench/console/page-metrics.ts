import type { Page } from 'playwright-core'

/** Measurements of the page since the last reading. */
export interface PageReadings {
  /** Time from an input's timestamp, which the browser's own process sets, until its command was passed to the connection. */
  readonly inputToWireMs: readonly number[]
  /** Tasks that blocked the page for more than 50 ms, as browsers count them. */
  readonly longTasksMs: readonly number[]
  /** Control frames passed to the connection. */
  readonly commands: number
  /** The layout shifts, as shares of the window. Those after an input count, because the driver presses keys all the time. */
  readonly layoutShifts: readonly number[]
}

/**
 * Runs in the page before its own scripts. The window receives a key event before the cockpit, in the same task, so
 * that key causes the next control frame.
 */
const INSTRUMENTS = `
  const readings = () => ({ inputToWireMs: [], longTasksMs: [], commands: 0, layoutShifts: [] })
  let now = readings()
  let pressedMs
  const addLong = (entries) => { for (const { duration } of entries) now.longTasksMs.push(duration) }
  const longTasks = new PerformanceObserver((list) => addLong(list.getEntries()))
  longTasks.observe({ type: 'longtask' })
  const addShifts = (entries) => { for (const { value } of entries) now.layoutShifts.push(value) }
  const shifts = new PerformanceObserver((list) => addShifts(list.getEntries()))
  shifts.observe({ type: 'layout-shift' })
  window.takeReadings = () => {
    addLong(longTasks.takeRecords())
    addShifts(shifts.takeRecords())
    const taken = now
    now = readings()
    return taken
  }
  for (const type of ['keydown', 'keyup']) {
    window.addEventListener(type, (event) => { if (!event.repeat) pressedMs = event.timeStamp }, true)
  }
  // Commands go through the data channel while there is one, otherwise through the WebSocket.
  for (const { prototype } of [WebSocket, RTCDataChannel]) {
    const { send } = prototype
    prototype.send = function (frame) {
      if (typeof frame === 'string' && frame.includes('"type":"control"')) {
        now.commands++
        if (pressedMs !== undefined) now.inputToWireMs.push(performance.now() - pressedMs)
        pressedMs = undefined
      }
      return send.call(this, frame)
    }
  }`

export const installInstruments = (page: Page): Promise<unknown> => page.addInitScript(INSTRUMENTS)

export const takeReadings = (page: Page): Promise<PageReadings> => page.evaluate('takeReadings()')

/** Returns the seconds that the page's main thread has worked so far. */
export async function mainThreadWatch(page: Page): Promise<() => Promise<number>> {
  const debuggerOfPage = await page.context().newCDPSession(page)
  await debuggerOfPage.send('Performance.enable')
  return async () => {
    const { metrics } = await debuggerOfPage.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
  }
}
