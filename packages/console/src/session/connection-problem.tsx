import { Alert, Button, Text } from '@mantine/core'
import { t } from '../texts/texts.ts'
import type { ObserverConnection, ObserverState } from './observer-connection.ts'

/** Shows a notice while the live data from the gateway is outdated. */
export function ConnectionProblem(props: {
  observerConnection: ObserverConnection | undefined
  observerState: ObserverState | undefined
  className?: string | undefined
}) {
  const { observerConnection, observerState, className } = props
  if (observerState === undefined || observerState.connection === 'online') return null
  const ended = observerState.connection === 'ended'
  return (
    <Alert
      color="orange.9"
      variant="outline"
      className={className}
      title={ended ? t('session.live.endedTitle') : t('session.live.connectingTitle')}
    >
      <Text size="sm">{ended ? observerState.problem : t('session.live.connectingText')}</Text>
      {ended && (
        <Button mt="xs" variant="default" size="xs" onClick={() => observerConnection?.reconnect()}>
          {t('session.live.reconnect')}
        </Button>
      )}
    </Alert>
  )
}
