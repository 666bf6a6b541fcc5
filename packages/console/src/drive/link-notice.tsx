import { Alert, Button, Group, Text } from '@mantine/core'
import { closeCodes, closeText } from '@wheelhouse/protocol'
import type { LinkEnd } from '@wheelhouse/sdk'
import { useStore } from '../ui/store.ts'
import type { OperatorConnection } from './operator-connection.ts'

/** Says that the link is not there, and what can be done about it. */
export function LinkNotice({ operatorConnection }: { operatorConnection: OperatorConnection }) {
  const { phase, problem, end } = useStore(operatorConnection.link)
  if (phase === 'online') return null
  if (phase === 'ended') return <Ended end={end} onTakeOver={operatorConnection.takeOver} />
  const title = phase === 'connecting' ? 'Connecting to the robot' : 'The link to the robot is lost'
  return (
    <Alert color="orange" variant="outline" title={title} role="status">
      <Text size="sm">
        The robot does not move. {problem ? `${problem} ` : ''}
        {phase === 'offline' && 'Reconnecting.'}
      </Text>
    </Alert>
  )
}

function Ended({ end, onTakeOver }: { end: LinkEnd | undefined; onTakeOver: () => void }) {
  const elsewhere = end?.closeCode === closeCodes.replaced.code
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      title={elsewhere ? 'Driven elsewhere' : 'The link to the robot has ended'}
    >
      <Group justify="space-between">
        <Text size="sm">
          {elsewhere
            ? 'You have opened this cockpit in another window, which has the wheel now.'
            : (closeText(end?.closeCode) ?? end?.reason)}
        </Text>
        <Button variant="default" onClick={onTakeOver}>
          {elsewhere ? 'Take over here' : 'Connect again'}
        </Button>
      </Group>
    </Alert>
  )
}
