import { isLoopback } from '../../core/http/loopback.ts'
import { parseNetwork } from './target-address.ts'

/** The loopback networks. */
const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1/128']
/** Networks that lead to this machine, including the unspecified address. */
const OWN_NETWORKS = [...LOOPBACK_NETWORKS, '0.0.0.0/8', '::/128']

type Network = NonNullable<ReturnType<typeof parseNetwork>>

interface Settings {
  readonly WEBHOOK_ALLOWED_NETWORKS?: readonly string[] | undefined
  readonly WEBHOOK_ALLOW_LOOPBACK: boolean
  readonly HOST?: string | undefined
  readonly BASE_URL?: string | undefined
  readonly TRUST_PROXY: number
}

/** Networks that are not public and that webhooks may reach nevertheless. */
export const webhookNetworks = (settings: Settings): string[] => [
  ...(settings.WEBHOOK_ALLOWED_NETWORKS ?? []),
  ...(settings.WEBHOOK_ALLOW_LOOPBACK ? LOOPBACK_NETWORKS : []),
]

/**
 * Returns the problems of the settings. Webhooks may reach this machine only if users of other machines cannot reach the
 * platform, because local services often trust local requests.
 */
export function webhookProblems(settings: Settings): string[] {
  const { WEBHOOK_ALLOWED_NETWORKS = [], WEBHOOK_ALLOW_LOOPBACK, HOST, BASE_URL, TRUST_PROXY } = settings
  const ownNetworks = WEBHOOK_ALLOWED_NETWORKS.filter(coversThisMachine)
  const problems =
    ownNetworks.length > 0
      ? [
          `WEBHOOK_ALLOWED_NETWORKS contains addresses of this machine (${ownNetworks.join(', ')}): use WEBHOOK_ALLOW_LOOPBACK`,
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

/** Returns whether a network contains an address of this machine. */
function coversThisMachine(text: string): boolean {
  const network = parseNetwork(text)
  return network !== undefined && OWN_NETWORKS.some((own) => overlap(network, parseNetwork(own) as Network))
}

/** Returns whether two networks overlap: one contains the other's address. */
function overlap([left, leftBits]: Network, [right, rightBits]: Network): boolean {
  if (left.kind() !== right.kind()) return false
  return left.match(right as never, Math.min(leftBits, rightBits))
}
