import { Button, Group, List, Paper, Stack, Text } from '@mantine/core'
import { useStore } from '../base/store.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { type FleetStop, type StopTarget, stopResultText } from './fleet-stop.ts'

/** Stops all robots in a session at once, without a confirmation. */
export const StopAllButton = ({
  targets,
  fleetStop,
}: {
  targets: readonly StopTarget[]
  fleetStop: FleetStop
}) => (
  <Button
    color="red.9"
    size="md"
    disabled={targets.length === 0}
    data-testid="stop-all"
    onClick={() => fleetStop.stop(targets)}
  >
    {t('live.stop.all')}
  </Button>
)

/** Shows the result of every requested stop. */
export function StopResults({ fleetStop }: { fleetStop: FleetStop }) {
  const results = [...useStore(fleetStop.results)]
  if (results.length === 0) return null
  const recorded = results.filter(([, { phase }]) => phase === 'recorded').length
  const isComplete = recorded === results.length
  return (
    <Paper
      component="section"
      aria-label={t('live.stop.results')}
      withBorder
      p="sm"
      style={{ borderColor: `var(--mantine-color-${isComplete ? 'teal' : 'red'}-9)` }}
    >
      <Stack gap="xs">
        <div role="status">
          <Text fw={600}>{t('live.stop.stopped', { recorded, requested: results.length })}</Text>
          <List size="sm" listStyleType="none">
            {results.map(([sessionId, result]) => (
              <List.Item key={sessionId}>
                {textParts('live.stop.result', {
                  robot: <b>{result.robotName}</b>,
                  result: stopResultText(result),
                })}
              </List.Item>
            ))}
          </List>
        </div>
        <Group>
          <Button size="xs" variant="default" onClick={fleetStop.forget}>
            {t('live.stop.hideResults')}
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
