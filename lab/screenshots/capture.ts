import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import sharp from 'sharp'

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const MAX_BYTES = 400_000
/** Colours of a picture; fewer when it would be too large. */
const COLOURS = [256, 128, 64, 32]

const sizes = {
  desktop: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
} as const

/** Settles when fonts are loaded and animations have ended; scrolls the page to its beginning. */
const SETTLED = `(async () => {
  await document.fonts.ready
  const passing = document.getAnimations().filter((item) => item.effect.getComputedTiming().endTime !== Infinity)
  await Promise.allSettled(passing.map((item) => item.finished))
  scrollTo(0, 0)
})()`

export interface Shot {
  /** Its file name without `.png`. */
  readonly name: string
  readonly size: keyof typeof sizes
  readonly scheme: 'light' | 'dark'
  /** Settles when the page shows the subject of the picture. */
  readonly ready: (page: Page) => Promise<unknown>
}

/** Takes one picture of a page and writes it to `docs/images`. */
export async function shoot(page: Page, { name, size, scheme, ready }: Shot): Promise<void> {
  await page.setViewportSize(sizes[size])
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  await page.evaluate(SETTLED)
  await ready(page)
  const png = await compressed(await page.screenshot())
  await mkdir(IMAGES, { recursive: true })
  await writeFile(join(IMAGES, `${name}.png`), png)
  process.stdout.write(`docs/images/${name}.png  ${Math.round(png.length / 1000)} kB\n`)
}

/** @throws Error when it cannot be made small enough */
async function compressed(screenshot: Buffer): Promise<Buffer> {
  for (const colours of COLOURS) {
    const png = await sharp(screenshot).png({ palette: true, colours, effort: 10 }).toBuffer()
    if (png.length <= MAX_BYTES) return png
  }
  throw new Error(`The picture is larger than ${MAX_BYTES} bytes with the fewest colours.`)
}
