import { Button, Group, Loader, Stack, Text } from '@mantine/core'
import { latencyMs } from '../../drive/figure-texts.ts'
import { useGatewayLatency } from './gateway-latency.ts'

/** Measures the round trip from this browser to the gateway of the robot, and compares it with the limit of the robot. */
export function LatencyCheck({ gatewayUrl, limitMs }: { gatewayUrl: string; limitMs: number }) {
  const { data, isFetching, isError, refetch } = useGatewayLatency(gatewayUrl)
  return (
    <Stack gap="xs">
      <Group gap="sm" mih={36}>
        <Group role="status" gap="xs">
          {isFetching && <Loader size="xs" aria-hidden />}
          <Text fw={600}>
            {isFetching && 'Measuring…'}
            {!isFetching && data && `${latencyMs(data.medianMs)}, slowest ${latencyMs(data.slowestMs)}`}
            {!isFetching && isError && 'The gateway does not respond to this browser.'}
          </Text>
        </Group>
        <Button variant="default" size="xs" disabled={isFetching} onClick={() => void refetch()}>
          Measure again
        </Button>
      </Group>
      {!isFetching && data && data.medianMs >= limitMs && (
        <Text size="sm" role="alert">
          This is above the limit of the robot, {latencyMs(limitMs)}: it would not move.
        </Text>
      )}
      <Text size="sm" c="dimmed">
        Round trip of ten small requests from this browser to the gateway: the middle one and the slowest. The
        way from the gateway to the robot comes on top. The cockpit measures both.
      </Text>
    </Stack>
  )
}
