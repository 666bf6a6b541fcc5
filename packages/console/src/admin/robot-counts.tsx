import { Paper, SimpleGrid, Text } from '@mantine/core'
import { language, t } from '../texts/texts.ts'
import type { Overview } from './overview-query.ts'

const shown = [
  ['IN_SESSION', t('admin.robotCounts.inSession')],
  ['AVAILABLE', t('admin.robotCounts.available')],
  ['OFFLINE', t('admin.robotCounts.offline')],
] as const

/** Counts registered robots by status. */
export const RobotCounts = ({ robots }: { robots: Overview['robots'] }) => (
  <SimpleGrid component="dl" cols={{ base: 3, sm: 4 }} spacing="xs" m={0}>
    {shown.map(([status, label]) => (
      <Count key={status} label={label} count={robots[status]} />
    ))}
    <Count
      label={t('admin.robotCounts.registered')}
      count={shown.reduce((sum, [status]) => sum + robots[status], 0)}
    />
  </SimpleGrid>
)

const Count = ({ label, count }: { label: string; count: number }) => (
  <Paper withBorder p="sm">
    <Text component="dt" size="sm" c="dimmed">
      {label}
    </Text>
    <Text component="dd" m={0} fz="1.6rem" fw={600}>
      {count.toLocaleString(language)}
    </Text>
  </Paper>
)
