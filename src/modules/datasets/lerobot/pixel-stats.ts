import sharp, { type Sharp } from 'sharp'
import type { KeyframeDecoder } from './frame-decoder.ts'
import { type FeatureStats, QUANTILES } from './running-stats.ts'

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
  result(rows: number): FeatureStats {
    if (this.#pictures === 0) return assumed(rows)
    const channels = this.#levels.map(channelStats)
    const pick = (name: keyof (typeof channels)[number]) => channels.map((channel) => channel[name])
    return {
      min: pick('min'),
      max: pick('max'),
      mean: pick('mean'),
      std: pick('std'),
      q01: pick('q01'),
      q10: pick('q10'),
      q50: pick('q50'),
      q90: pick('q90'),
      q99: pick('q99'),
      count: this.#pictures,
    }
  }
}

function channelStats(levels: Float64Array) {
  const total = levels.reduce((sum, count) => sum + count, 0)
  const scale = (level: number) => level / (LEVELS - 1)
  const mean = levels.reduce((sum, count, level) => sum + count * scale(level), 0) / total
  const variance = levels.reduce((sum, count, level) => sum + count * (scale(level) - mean) ** 2, 0) / total
  const quantile = (q: number) => scale(levelAt(levels, q * total))
  return {
    min: scale(levels.findIndex((count) => count > 0)),
    max: scale(levels.findLastIndex((count) => count > 0)),
    mean,
    std: Math.sqrt(variance),
    q01: quantile(QUANTILES.q01),
    q10: quantile(QUANTILES.q10),
    q50: quantile(QUANTILES.q50),
    q90: quantile(QUANTILES.q90),
    q99: quantile(QUANTILES.q99),
  }
}

/** Returns the first level up to which there are as many pixels. */
function levelAt(levels: Float64Array, pixels: number): number {
  let sum = 0
  for (const [level, count] of levels.entries()) {
    sum += count
    if (sum >= pixels) return level
  }
  return levels.length - 1
}

/** Normal quantiles of the fields `q01` to `q99`. */
const DEVIATIONS = { q01: -2.326, q10: -1.282, q50: 0, q90: 1.282, q99: 2.326 } as const

function assumed(rows: number): FeatureStats {
  const quantile = (name: keyof typeof DEVIATIONS) =>
    IMAGENET.mean.map((mean, channel) =>
      Math.min(1, Math.max(0, mean + DEVIATIONS[name] * (IMAGENET.std[channel] as number))),
    )
  return {
    min: [0, 0, 0],
    max: [1, 1, 1],
    mean: [...IMAGENET.mean],
    std: [...IMAGENET.std],
    q01: quantile('q01'),
    q10: quantile('q10'),
    q50: quantile('q50'),
    q90: quantile('q90'),
    q99: quantile('q99'),
    count: rows,
  }
}
