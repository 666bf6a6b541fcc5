import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.process>

/** Addresses of cloud metadata services within public ranges. */
const METADATA: ReadonlySet<string> = new Set(['168.63.129.16'])
/** The public range of IPv6. Addresses outside are special, even if the library does not know them. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** Parses a network in CIDR notation. Returns undefined if it is not valid. */
export function parseNetwork(text: string): ReturnType<typeof ipaddr.parseCIDR> | undefined {
  try {
    return ipaddr.parseCIDR(text)
  } catch {
    return undefined
  }
}

/**
 * Creates the policy for addresses of webhook receivers. It refuses all addresses that are not public unicast: private and
 * local ones, multicast, shared address space, reserved and documentation ranges, and forms that embed an IPv4 address
 * (NAT64, 6to4, Teredo, …). It judges an IPv4-mapped address by its IPv4 address.
 *
 * @param allowed networks that are allowed despite not being public
 */
export function createAddressPolicy(allowed: readonly string[]) {
  const networks = allowed.map((text) => ipaddr.parseCIDR(text))
  const isIn = (address: Address, [network, bits]: (typeof networks)[number]) =>
    address.kind() === network.kind() && address.match(network as never, bits)

  return {
    /** Whether a network that is not public is allowed. Plain http is possible only there. */
    allowsPrivate: networks.length > 0,

    /** Returns whether an address is public, allowed by the configuration, or refused. */
    judge(text: string): 'public' | 'allowed' | 'refused' {
      if (!ipaddr.isValid(text) || text.includes('%')) return 'refused' // a zone names a local interface
      const address = ipaddr.process(text)
      if (networks.some((network) => isIn(address, network))) return 'allowed'
      if (address.range() !== 'unicast' || METADATA.has(address.toString())) return 'refused'
      return address.kind() === 'ipv4' || isIn(address, GLOBAL_UNICAST) ? 'public' : 'refused'
    },
  }
}
export type AddressPolicy = ReturnType<typeof createAddressPolicy>
