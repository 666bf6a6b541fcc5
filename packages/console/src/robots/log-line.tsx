import { Badge } from '@mantine/core'
import type { RobotLogLevel } from '@wheelhouse/protocol'

const levels: Record<RobotLogLevel, { label: string; color: string }> = {
  debug: { label: 'Debug', color: 'gray.7' },
  info: { label: 'Info', color: 'blue.9' },
  warn: { label: 'Warning', color: 'orange.9' },
  error: { label: 'Error', color: 'red.9' },
}

export const LevelBadge = ({ level }: { level: RobotLogLevel }) => (
  <Badge color={levels[level].color} variant="filled" size="sm">
    {levels[level].label}
  </Badge>
)

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' })

/** Returns the time of a log line, to the second. */
export const lineTime = (at: string | number): string => format.format(new Date(at))
