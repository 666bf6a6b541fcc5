import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** The instruments that an operator must always see. */
const INSTRUMENTS = ['stop', 'speed', 'battery', 'latency', 'session-clock', 'freshness', 'menu']

/** Where an element is in the window. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Returns where an element is shown. */
export async function boxOf(page: Page, testId: string): Promise<Box> {
  const box = await page.getByTestId(testId).boundingBox()
  if (!box) throw new Error(`${testId} is not shown`)
  return box
}

const overlaps = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** Returns whether the middle of an element is the element itself or in it, not covered by another one. */
const isUncovered = (page: Page, testId: string) =>
  page.getByTestId(testId).evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    const hit = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2)
    return hit !== null && (element.contains(hit) || hit.contains(element))
  })

/** Returns whether an instrument gives way to a call: on a phone upright there is space for one of them. */
async function givesWay(page: Page, testId: string): Promise<boolean> {
  const { width, height } = page.viewportSize() as { width: number; height: number }
  const isYielding = testId === 'battery' || testId === 'session-clock'
  return isYielding && width < height && (await page.locator('[data-called=true]').count()) > 0
}

/** Expects the picture to fill a share of the window, all instruments in view, and nothing to scroll. */
export async function expectLayout(page: Page, leastShare: number): Promise<void> {
  const { width, height } = page.viewportSize() as { width: number; height: number }
  const picture = await boxOf(page, 'cockpit-picture')
  expect((picture.width * picture.height) / (width * height), 'share of the picture').toBeGreaterThanOrEqual(
    leastShare,
  )
  for (const testId of INSTRUMENTS) {
    if (await givesWay(page, testId)) continue
    const box = await boxOf(page, testId)
    const edges = [box.x, box.y, width - box.x - box.width, height - box.y - box.height]
    for (const distance of edges) expect(distance, `${testId} is in view`).toBeGreaterThanOrEqual(-0.5)
    expect(await isUncovered(page, testId), `${testId} is not covered`).toBe(true)
  }
  const excess = await page.evaluate(
    '[document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]',
  )
  expect(excess, 'nothing scrolls').toEqual([0, 0])
}

/** Returns the number of instruments, and the share of the picture that none of them covers: of 200 × 200 points in it. */
const COVER = `(() => {
  const picture = document.querySelector('[data-testid=cockpit-picture]').getBoundingClientRect()
  const boxes = [...document.querySelectorAll('[data-hud]')]
    .filter((it) => it.checkVisibility({ visibilityProperty: true }))
    .map((it) => it.getBoundingClientRect())
  const steps = [...Array(200).keys()].map((step) => (step + 0.5) / 200)
  const isFree = (x, y) => !boxes.some((box) => x > box.left && x < box.right && y > box.top && y < box.bottom)
  const free = steps.flatMap((x) => steps.filter((y) => isFree(picture.left + x * picture.width, picture.top + y * picture.height)))
  return { instruments: boxes.length, freeShare: free.length / 40_000 }
})()`

/** Expects few instruments, and at least a share of the picture that none of them covers. */
export async function expectFreePicture(page: Page, leastShare: number): Promise<void> {
  const cover = (await page.evaluate(COVER)) as { instruments: number; freeShare: number }
  expect(cover.instruments, 'number of instruments').toBeLessThanOrEqual(9)
  expect(cover.freeShare, 'share of the picture without an instrument').toBeGreaterThanOrEqual(leastShare)
}

/** Expects the stick, which only touch screens have, not to lie beneath another control. */
export async function expectFreeStick(page: Page): Promise<void> {
  if (!(await page.getByRole('application').isVisible())) return
  const box = (await page.getByRole('application').boundingBox()) as Box
  for (const testId of ['stop', 'speed', 'menu'])
    expect(overlaps(box, await boxOf(page, testId)), `the stick and ${testId}`).toBe(false)
  const { width, height } = page.viewportSize() as { width: number; height: number }
  expect([box.x >= 0, box.y >= 0, box.x + box.width <= width, box.y + box.height <= height]).toEqual([
    true,
    true,
    true,
    true,
  ])
}

/**
 * The sizes at which the cockpit must work, the least share of the window that the picture fills, and the least share of the
 * picture without an instrument on it.
 */
export const COCKPIT_SIZES = [
  [2560, 1440, 0.93, 0.85],
  [1920, 1080, 0.93, 0.85],
  [1440, 900, 0.93, 0.85],
  [1280, 720, 0.93, 0.8],
  [844, 390, 0.85, 0.6],
  [390, 844, 0.5, 0.85],
] as const
