import type { Schemas } from '@wheelhouse/sdk'
import { robotStatusTexts, sessionStatusTexts } from '../texts/code-texts.ts'
import { language } from '../texts/texts.ts'

type Stats = Schemas['ClientStats']

/** Robot statuses in display order. */
export const robotStatuses: readonly (readonly [keyof Stats['robots_by_status'], string])[] = [
  ['AVAILABLE', robotStatusTexts.AVAILABLE],
  ['IN_SESSION', robotStatusTexts.IN_SESSION],
  ['OFFLINE', robotStatusTexts.OFFLINE],
]

export const sessionStatuses: readonly (readonly [keyof Stats['sessions_by_status'], string])[] = [
  ['PENDING', sessionStatusTexts.PENDING],
  ['ACTIVE', sessionStatusTexts.ACTIVE],
  ['PAUSED', sessionStatusTexts.PAUSED],
  ['COMPLETED', sessionStatusTexts.COMPLETED],
  ['CANCELLED', sessionStatusTexts.CANCELLED],
]

/** Returns `2026-10` as "Oct 2026". */
export const monthLabel = (month: string): string =>
  new Intl.DateTimeFormat(language, { month: 'short', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )
