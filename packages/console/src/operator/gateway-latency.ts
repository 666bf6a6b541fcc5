import { useQuery } from '@tanstack/react-query'

const SAMPLES = 10
/** How long a measurement counts. */
const MEASURED_FOR_MS = 60_000

/** Round trips between this browser and a gateway. */
interface GatewayLatency {
  readonly medianMs: number
  readonly slowestMs: number
}

/** Returns the address of a small response of a gateway. @param gatewayUrl a WebSocket origin, such as `wss://host` */
export const probeUrl = (gatewayUrl: string): string => `${gatewayUrl.replace(/^ws/, 'http')}/livez`

/** Returns the median and the maximum of round trips. */
export function summaryOf(roundTripsMs: readonly number[]): GatewayLatency {
  const sorted = roundTripsMs.toSorted((a, b) => a - b)
  return { medianMs: sorted[sorted.length >> 1] ?? 0, slowestMs: sorted.at(-1) ?? 0 }
}

/**
 * Measures how long small requests to a gateway take, one after another. The first one, which opens the connection, does not
 * count. The responses are opaque to this page, because the gateway has another origin.
 */
async function measure(gatewayUrl: string, signal: AbortSignal): Promise<GatewayLatency> {
  const url = probeUrl(gatewayUrl)
  const request = () => fetch(url, { mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal })
  await request()
  const roundTripsMs: number[] = []
  for (let count = 0; count < SAMPLES; count++) {
    const startedAt = performance.now()
    await request()
    roundTripsMs.push(performance.now() - startedAt)
  }
  return summaryOf(roundTripsMs)
}

/** Queries the latency between this browser and a gateway. Nothing is measured without a gateway. */
export const useGatewayLatency = (gatewayUrl: string | null) =>
  useQuery({
    queryKey: ['gateway-latency', gatewayUrl],
    queryFn: ({ signal }) => measure(gatewayUrl ?? '', signal),
    enabled: gatewayUrl !== null,
    // Rows of one list share a measurement, also those that appear while the user scrolls.
    staleTime: MEASURED_FOR_MS,
    retry: 1,
    refetchOnWindowFocus: false,
  })
