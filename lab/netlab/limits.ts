import type { Figures } from './figures.ts'

/** Figures of Wheelhouse on one profile, as far as they were measured. */
export interface Subjects {
  /** With its defaults, which include data channels. */
  readonly default?: Figures
  /** Over WebSockets only. */
  readonly fallback?: Figures
}

/** A goal of Wheelhouse. */
interface Limit {
  /** The profiles that it applies to; undefined: all. */
  readonly profiles?: readonly string[]
  readonly figure: keyof Figures
  readonly goal: string
  /** Returns undefined if a transport that it compares was not measured. */
  met(measured: Subjects): boolean | undefined
}

const limits: readonly Limit[] = [
  {
    figure: 'olderThanTtl',
    goal: '0, both',
    met: (measured) =>
      [measured.default, measured.fallback].every((figures) => (figures?.olderThanTtl ?? 0) === 0),
  },
  {
    profiles: ['lte'],
    figure: 'falseStopsPerTenMinutes',
    goal: '≤ 1',
    met: (measured) => measured.default && measured.default.falseStopsPerTenMinutes <= 1,
  },
  {
    profiles: ['lte'],
    figure: 'ageP99Ms',
    goal: 'p99 ≤ 0.5 × over WebSockets',
    met: ({ default: channels, fallback }) =>
      channels && fallback && channels.ageP99Ms <= 0.5 * fallback.ageP99Ms,
  },
]

/** Returns the limit of a figure on a profile; undefined without one. */
export const limitOf = (profile: string, figure: keyof Figures): Limit | undefined =>
  limits.find((limit) => limit.figure === figure && (limit.profiles?.includes(profile) ?? true))
