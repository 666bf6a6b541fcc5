import type { Page } from 'playwright-core'

/** The sizes of the goals, and the least share of the window that the picture fills. */
export const PICTURE_SIZES = [
  { width: 1_440, height: 900, least: 0.93 },
  { width: 1_920, height: 1_080, least: 0.93 },
  { width: 390, height: 844, least: 0.5 },
  { width: 844, height: 390, least: 0.85 },
] as const

/** Resolves after the browser has painted the latest change. */
const PAINTED =
  'new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(() => painted())))'

/** Returns which share of the window the cockpit's picture fills, for each of the sizes; restores the size. */
export async function pictureShares(page: Page): Promise<number[]> {
  const original = page.viewportSize()
  const shares: number[] = []
  for (const { width, height } of PICTURE_SIZES) {
    await page.setViewportSize({ width, height })
    await page.evaluate(PAINTED)
    const box = await page.getByTestId('cockpit-picture').boundingBox()
    if (!box) throw new Error('The cockpit shows no picture.')
    shares.push((box.width * box.height) / (width * height))
  }
  if (original) await page.setViewportSize(original)
  return shares
}
