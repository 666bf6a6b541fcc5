import { Button, Group, Loader, Stack, Text } from '@mantine/core'
import { latencyMs } from '../../drive/figure-texts.ts'
import { t } from '../../texts/texts.ts'
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
            {isFetching && t('operator.latency.measuring')}
            {!isFetching &&
              data &&
              t('operator.latency.result', {
                median: latencyMs(data.medianMs),
                slowest: latencyMs(data.slowestMs),
              })}
            {!isFetching && isError && t('operator.latency.noResponse')}
          </Text>
        </Group>
        <Button variant="default" size="xs" disabled={isFetching} onClick={() => void refetch()}>
          {t('operator.latency.again')}
        </Button>
      </Group>
      {!isFetching && data && data.medianMs >= limitMs && (
        <Text size="sm" role="alert">
          {t('operator.latency.aboveLimit', { limit: latencyMs(limitMs) })}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('operator.latency.note')}
      </Text>
    </Stack>
  )
}
