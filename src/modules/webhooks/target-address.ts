import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.process>

/** Addresses in public ranges behind which clouds keep what is only for their machines. */
const METADATA: ReadonlySet<string> = new Set(['168.63.129.16'])
/** All there is of IPv6 for everybody; whatever lies outside is special, known to the library or not. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** A network in CIDR notation, or undefined. */
export function parseNetwork(text: string): ReturnType<typeof ipaddr.parseCIDR> | undefined {
  try {
    return ipaddr.parseCIDR(text)
  } catch {
    return undefined
  }
}

/**
 * Decides about addresses that webhooks may be sent to. Refused is whatever is not plainly an address of a public
 * host: private and local ones, multicast, shared address space, reserved and documentation ranges, and every form
 * that carries an IPv4 address inside (NAT64, 6to4, Teredo, …), except the mapped one, which is looked into.
 *
 * @param allowed networks that are allowed although they are not public
 */
export function createAddressPolicy(allowed: readonly string[]) {
  const networks = allowed.map((text) => ipaddr.parseCIDR(text))
  const isIn = (address: Address, [network, bits]: (typeof networks)[number]) =>
    address.kind() === network.kind() && address.match(network as never, bits)

  return {
    /** Whether any network is allowed that is not public; only there plain http is. */
    allowsPrivate: networks.length > 0,

    /** How an address may be reached: as a public one, as one that the configuration allows, or not at all. */
    judge(text: string): 'public' | 'allowed' | 'refused' {
      if (!ipaddr.isValid(text) || text.includes('%')) return 'refused' // a zone names an interface of ours
      const address = ipaddr.process(text)
      if (networks.some((network) => isIn(address, network))) return 'allowed'
      if (address.range() !== 'unicast' || METADATA.has(address.toString())) return 'refused'
      return address.kind() === 'ipv4' || isIn(address, GLOBAL_UNICAST) ? 'public' : 'refused'
    },
  }
}
export type AddressPolicy = ReturnType<typeof createAddressPolicy>
