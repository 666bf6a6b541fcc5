import type { Figures } from './figures.ts'

/** A goal of the transports that are under test. */
interface Limit {
  /** The profiles that it applies to; undefined: all. */
  readonly profiles?: readonly string[]
  readonly figure: keyof Figures
  readonly goal: string
  met(figures: Figures): boolean
}

const limits: readonly Limit[] = [
  { figure: 'olderThanTtl', goal: '0', met: ({ olderThanTtl }) => olderThanTtl === 0 },
  {
    profiles: ['lte'],
    figure: 'falseStopsPerTenMinutes',
    goal: '≤ 1',
    met: ({ falseStopsPerTenMinutes }) => falseStopsPerTenMinutes <= 1,
  },
]

/** Returns the limit of a figure on a profile; undefined without one. */
export const limitOf = (profile: string, figure: keyof Figures): Limit | undefined =>
  limits.find((limit) => limit.figure === figure && (limit.profiles?.includes(profile) ?? true))
