import type { Page } from 'playwright-core'

/** A slow mobile connection. */
export const SLOW = { megabitsPerSecond: 1.6, latencyMs: 150 } as const

/** Time and bytes that a page with an empty cache needed over the slow connection. */
export interface FirstLoad {
  /** From the start of the navigation until the awaited element is shown, by the clock of the page. */
  readonly shownMs: number
  /** Bytes received until then, with headers, as compressed. */
  readonly bytes: number
}

/** Creates in the page a promise of the time when an element is shown for the first time. */
const noteShown = (selector: string) => `
  window.shownMs = new Promise((shown) => {
    const look = () => {
      const element = document.querySelector(${JSON.stringify(selector)})
      if (element?.checkVisibility() && element.getBoundingClientRect().height > 0) shown(performance.now())
      else requestAnimationFrame(look)
    }
    look()
  })`

/** Opens a URL in a new page over a slow connection, without a cache, until the element is shown; closes the page. */
export async function measureFirstLoad(page: Page, url: string, selector: string): Promise<FirstLoad> {
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.setCacheDisabled', { cacheDisabled: true })
  const bytesPerSecond = (SLOW.megabitsPerSecond * 1_000_000) / 8
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: SLOW.latencyMs,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  })
  let bytes = 0
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.addInitScript(noteShown(selector))
  await page.goto(url, { waitUntil: 'commit' })
  const shownMs = Number(await page.evaluate('window.shownMs'))
  const received = bytes
  await page.close()
  return { shownMs, bytes: received }
}
