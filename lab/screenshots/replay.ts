import { setTimeout as delay } from 'node:timers/promises'
import { answerOf } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import type { ConsoleBrowser } from '../../test/support/browser/console.ts'
import { shoot } from './capture.ts'
import type { Actor, ScreenshotFixtures } from './fixtures.ts'

/** The picture is complete when nothing in it has changed for so long. */
const STILL_MS = 3_000
const POLL_MS = 250
const FINISHED_WITHIN_MS = 120_000
/** Of the recording: the moment that the picture shows. */
const SHOWN_SHARE = 0.7

/** Marks the start or the end of an episode. */
export async function markEpisode(
  { rest }: Actor,
  id: string,
  mark: { action: 'start'; task: string } | { action: 'success' },
): Promise<void> {
  await answerOf(rest.POST('/api/sessions/{id}/episodes', { params: { path: { id } }, body: mark }))
}

/** Ends the session and takes a picture of its replay. */
export async function captureReplay(
  { owner, sessions }: ScreenshotFixtures,
  browser: ConsoleBrowser,
): Promise<void> {
  const params = { path: { id: sessions.ronja } }
  await answerOf(owner.rest.PATCH('/api/sessions/{id}', { params, body: { action: 'end' } }))
  const seconds = await finishedSeconds(owner, sessions.ronja)
  const at = Math.floor(seconds * SHOWN_SHARE)
  const { page } = await browser.signIn(
    'owner@demo.local',
    `/dashboard/sessions/${sessions.ronja}/replay?t=${at}`,
  )
  const ready = async (shown: Page) => {
    // A canvas has this size until it shows a picture.
    await shown.locator('figure canvas:not([width="16"])').first().waitFor()
    await shown.getByRole('button', { name: 'Plots' }).waitFor()
    // The recording is read piece by piece: lanes and plots change until all of it was read.
    let before: Buffer = Buffer.alloc(0)
    for (
      let picture = await shown.screenshot();
      !picture.equals(before);
      picture = await shown.screenshot()
    ) {
      before = picture
      await delay(STILL_MS)
    }
  }
  await shoot(page, { name: 'replay', size: 'desktop', scheme: 'dark', ready })
}

/** Waits until the file of the recording is finished. Returns the duration of the recording. */
async function finishedSeconds({ rest }: Actor, id: string): Promise<number> {
  const lastMs = performance.now() + FINISHED_WITHIN_MS
  for (;;) {
    const recording = await answerOf(rest.GET('/api/sessions/{id}/recording', { params: { path: { id } } }))
    const { status, started_at, ended_at } = recording
    if (status === 'READY' && ended_at) return (Date.parse(ended_at) - Date.parse(started_at)) / 1_000
    if (performance.now() > lastMs) throw new Error(`The recording is ${status}.`)
    await delay(POLL_MS)
  }
}
