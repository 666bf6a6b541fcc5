import { Alert, Button, Group, Text } from '@mantine/core'
import { closeCodes, closeText } from '@wheelhouse/protocol'
import type { LinkEnd } from '@wheelhouse/sdk'
import { useStore } from '../ui/store.ts'
import type { OperatorConnection } from './operator-connection.ts'

/** Explains a missing connection to the robot and offers to reconnect. */
export function LinkNotice({ operatorConnection }: { operatorConnection: OperatorConnection }) {
  const { phase, problem, end } = useStore(operatorConnection.link)
  if (phase === 'online') return null
  if (phase === 'ended') return <Ended end={end} onTakeOver={operatorConnection.takeOver} />
  const title = phase === 'connecting' ? 'Connecting to the robot' : 'Connection to the robot lost'
  return (
    <Alert color="orange.9" variant="outline" title={title} role="status">
      <Text size="sm">
        The robot has stopped. {problem ? `${problem} ` : ''}
        {phase === 'offline' && 'Reconnecting.'}
      </Text>
    </Alert>
  )
}

function Ended({ end, onTakeOver }: { end: LinkEnd | undefined; onTakeOver: () => void }) {
  const replaced = end?.closeCode === closeCodes.replaced.code
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      title={replaced ? 'Open in another window' : 'Disconnected from the robot'}
    >
      <Group justify="space-between">
        <Text size="sm">
          {replaced
            ? 'You opened this cockpit in another window, which is now in control.'
            : (closeText(end?.closeCode) ?? end?.reason)}
        </Text>
        <Button variant="default" onClick={onTakeOver}>
          {replaced ? 'Take control' : 'Reconnect'}
        </Button>
      </Group>
    </Alert>
  )
}
