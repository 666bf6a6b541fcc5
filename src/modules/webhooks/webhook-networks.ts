import { isLoopback } from '../../core/http/loopback.ts'
import { parseNetwork } from './target-address.ts'

/** This machine. */
const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1/128']
/** Networks whose addresses lead to this machine; systems take the unspecified address for it too. */
const OWN_NETWORKS = [...LOOPBACK_NETWORKS, '0.0.0.0/8', '::/128']

type Network = NonNullable<ReturnType<typeof parseNetwork>>

interface Settings {
  readonly WEBHOOK_ALLOWED_NETWORKS?: readonly string[] | undefined
  readonly WEBHOOK_ALLOW_LOOPBACK: boolean
  readonly HOST?: string | undefined
  readonly BASE_URL?: string | undefined
  readonly TRUST_PROXY: number
}

/** Networks that webhooks may reach although they are not public. */
export const webhookNetworks = (settings: Settings): string[] => [
  ...(settings.WEBHOOK_ALLOWED_NETWORKS ?? []),
  ...(settings.WEBHOOK_ALLOW_LOOPBACK ? LOOPBACK_NETWORKS : []),
]

/**
 * Returns what is wrong with the settings: only where users of other machines cannot reach the platform may its
 * webhooks reach this machine, since its services trust whatever comes from there.
 */
export function webhookProblems(settings: Settings): string[] {
  const { WEBHOOK_ALLOWED_NETWORKS = [], WEBHOOK_ALLOW_LOOPBACK, HOST, BASE_URL, TRUST_PROXY } = settings
  const own = WEBHOOK_ALLOWED_NETWORKS.filter(coversThisMachine)
  const problems =
    own.length > 0
      ? [
          `WEBHOOK_ALLOWED_NETWORKS holds addresses of this machine (${own.join(', ')}): use WEBHOOK_ALLOW_LOOPBACK`,
        ]
      : []
  if (!WEBHOOK_ALLOW_LOOPBACK) return problems
  const reason = 'users of other machines could send requests to the services of this one'
  if (TRUST_PROXY > 0)
    problems.push(`WEBHOOK_ALLOW_LOOPBACK cannot be on behind a proxy (TRUST_PROXY): ${reason}`)
  if (HOST !== undefined && !isLoopback(HOST)) {
    problems.push(
      `WEBHOOK_ALLOW_LOOPBACK cannot be on with HOST=${HOST}, where others can connect: ${reason}`,
    )
  }
  if (BASE_URL !== undefined && !isLoopback(new URL(BASE_URL).hostname)) {
    problems.push(`WEBHOOK_ALLOW_LOOPBACK cannot be on with a public BASE_URL (${BASE_URL}): ${reason}`)
  }
  return problems
}

/** Whether a network holds an address of this machine. */
function coversThisMachine(text: string): boolean {
  const network = parseNetwork(text)
  return network !== undefined && OWN_NETWORKS.some((own) => overlap(network, parseNetwork(own) as Network))
}

/** Of two networks that overlap, one holds the other's address. */
function overlap([left, leftBits]: Network, [right, rightBits]: Network): boolean {
  if (left.kind() !== right.kind()) return false
  return left.match(right as never, Math.min(leftBits, rightBits))
}
