import { Button, Group, List, Paper, Stack, Text } from '@mantine/core'
import { useStore } from '../base/store.ts'
import { StopSign } from '../status/shapes.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { type FleetStop, type StopTarget, stopResultText } from './fleet-stop.ts'
import { HoldButton } from './hold-button.tsx'

const HOLD_ALL_MS = 1_000

/** Stops all robots in a session when it has been held. */
export const StopAllButton = (props: {
  targets: readonly StopTarget[]
  fleetStop: FleetStop
  className?: string | undefined
}) => (
  <HoldButton
    holdMs={HOLD_ALL_MS}
    className={props.className ?? ''}
    disabled={props.targets.length === 0}
    data-testid="stop-all"
    onHold={() => props.fleetStop.stop(props.targets)}
  >
    <StopSign />
    {t('live.stop.all')} <small>{t('live.stop.holdAll')}</small>
  </HoldButton>
)

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
      style={{ borderColor: `var(--status-${isComplete ? 'live' : 'blind'})` }}
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
