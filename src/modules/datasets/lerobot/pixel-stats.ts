import sharp, { type Sharp } from 'sharp'
import type { KeyframeDecoder } from './frame-decoder.ts'
import type { MergeableStats } from './running-stats.ts'
import { QUANTILES, quantilesOf, type WeightedPoint } from './weighted-points.ts'

const CHANNELS = 3
const LEVELS = 256
/** Pictures of an episode that count for the statistics at most. */
const MAX_SAMPLES = 16
/** The pictures are made this narrow first, as LeRobot does. */
const SAMPLE_WIDTH = 150

/** The statistics of ImageNet, with which LeRobot normalizes pictures by default, for cameras that cannot be decoded here. */
const IMAGENET = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } as const

/** Returns whether a row is among those whose pictures count for the statistics. */
export const isSampled = (row: number, rows: number): boolean => row % Math.ceil(rows / MAX_SAMPLES) === 0

/** Counts the levels of the colours in pictures of a camera. */
export class PixelStats {
  readonly #levels = Array.from({ length: CHANNELS }, () => new Float64Array(LEVELS))
  #pictures = 0

  async addJpeg(jpeg: Uint8Array): Promise<void> {
    await this.#add(sharp(jpeg))
  }

  /** Adds keyframes of video. */
  async addKeyframes(decoder: KeyframeDecoder, keyframes: readonly Uint8Array[]): Promise<void> {
    for await (const { width, height, rgba } of decoder.decode(keyframes))
      await this.#add(sharp(rgba, { raw: { width, height, channels: 4 } }))
  }

  async #add(image: Sharp): Promise<void> {
    const pixels = await image
      .resize({ width: SAMPLE_WIDTH, withoutEnlargement: true })
      .removeAlpha()
      .toColourspace('srgb')
      .raw()
      .toBuffer()
      .catch(() => undefined) // a damaged picture does not count
    if (!pixels) return
    for (const [at, level] of pixels.entries()) {
      const counts = this.#levels[at % CHANNELS] as Float64Array
      counts[level] = (counts[level] as number) + 1
    }
    this.#pictures++
  }

  /** Returns the statistics of the colours between 0 and 1; those of ImageNet without a picture. */
  result(rows: number): MergeableStats {
    if (this.#pictures === 0) return assumed(rows)
    const channels = this.#levels.map((levels) => channelStats(levels, this.#pictures))
    const points = channels.map((channel) => channel.points)
    return {
      min: points.map((channel) => channel[0]?.[0] ?? 0),
      max: points.map((channel) => channel.at(-1)?.[0] ?? 0),
      mean: channels.map(({ mean }) => mean),
      std: channels.map(({ std }) => std),
      ...quantilesOf(points),
      count: this.#pictures,
      points,
    }
  }
}

function channelStats(levels: Float64Array, pictures: number) {
  const pixels = levels.reduce((sum, count) => sum + count, 0)
  const points = Array.from(
    levels,
    (count, level): WeightedPoint => [level / (LEVELS - 1), (count * pictures) / pixels],
  ).filter(([, weight]) => weight > 0)
  const mean = points.reduce((sum, [value, weight]) => sum + value * weight, 0) / pictures
  const variance = points.reduce((sum, [value, weight]) => sum + weight * (value - mean) ** 2, 0) / pictures
  return { points, mean, std: Math.sqrt(variance) }
}

/** Normal quantiles of the fields `q01` to `q99`. */
const DEVIATIONS = { q01: -2.326, q10: -1.282, q50: 0, q90: 1.282, q99: 2.326 } as const

function assumed(rows: number): MergeableStats {
  const points = IMAGENET.mean.map((mean, channel) =>
    assumedPoints(mean, IMAGENET.std[channel] as number, rows),
  )
  return {
    min: [0, 0, 0],
    max: [1, 1, 1],
    mean: [...IMAGENET.mean],
    std: [...IMAGENET.std],
    ...quantilesOf(points),
    count: rows,
    points,
  }
}

/** Returns points that have the quantiles of a normal distribution. */
function assumedPoints(mean: number, std: number, rows: number): WeightedPoint[] {
  const names = Object.keys(QUANTILES) as (keyof typeof QUANTILES)[]
  const points = names.map((name, index): WeightedPoint => {
    const below = QUANTILES[names[index - 1] ?? name]
    const part = index === 0 ? below : QUANTILES[name] - below
    return [Math.min(1, Math.max(0, mean + DEVIATIONS[name] * std)), part * rows]
  })
  return [...points, [1, (1 - QUANTILES.q99) * rows]]
}
