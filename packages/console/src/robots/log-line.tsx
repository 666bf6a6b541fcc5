import { Badge } from '@mantine/core'
import type { RobotLogLevel } from '@wheelhouse/protocol'
import { language, t } from '../texts/texts.ts'

const levels: Record<RobotLogLevel, { label: string; color: string }> = {
  debug: { label: t('robots.logLevels.debug'), color: 'gray.7' },
  info: { label: t('robots.logLevels.info'), color: 'blue.9' },
  warn: { label: t('robots.logLevels.warn'), color: 'orange.9' },
  error: { label: t('robots.logLevels.error'), color: 'red.9' },
}

export const LevelBadge = ({ level }: { level: RobotLogLevel }) => (
  <Badge color={levels[level].color} variant="filled" size="sm">
    {levels[level].label}
  </Badge>
)

const format = new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' })

/** Returns the time of a log line, to the second. */
export const lineTime = (at: string | number): string => format.format(new Date(at))
