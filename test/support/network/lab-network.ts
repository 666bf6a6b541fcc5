import { createChildren } from '../processes/children.ts'
import { type EmulatedLink, type LinkReport, startLink } from './link/emulated-link.ts'
import { createNamespaces, deleteNamespaces, ip, type Namespaces, NotAllowedError } from './namespaces.ts'

/** Addresses of both ends of the link. */
export const LINK_ADDRESSES = ['10.78.0.1', '10.78.0.2'] as const

export interface LabNetwork {
  readonly namespaces: Namespaces
  /** Joins the namespaces of the operators (a) and of the site (b). */
  readonly link: EmulatedLink
  readonly children: ReturnType<typeof createChildren>
  close(): Promise<void>
}

interface NetworkOptions {
  /** Whether the site is the namespace of this process, so that a platform in it is reached over the link. */
  readonly siteIsHere?: boolean
  readonly addresses?: readonly [string, string]
}

/** Creates the namespaces of this process with a link. @throws NotAllowedError where the system does not allow it */
export async function openLabNetwork(options: NetworkOptions = {}): Promise<LabNetwork> {
  const { siteIsHere = false, addresses = LINK_ADDRESSES } = options
  const children = createChildren()
  const close = async () => {
    await children.stopAll()
    await deleteNamespaces(process.pid)
  }
  try {
    const namespaces = await createNamespaces(process.pid)
    if (siteIsHere) {
      await ip('netns', 'delete', namespaces.site)
      await ip('netns', 'attach', namespaces.site, String(process.pid))
    }
    const ends = {
      a: namespaces.operators,
      b: namespaces.site,
      device: 'lab-test',
      addresses,
    }
    return { namespaces, link: await startLink(children, ends), children, close }
  } catch (cause) {
    await close()
    throw cause
  }
}

/** Returns whether this machine allows namespaces and TUN devices. */
export async function isLabAllowed(): Promise<boolean> {
  try {
    const network = await openLabNetwork()
    await network.close()
    return true
  } catch (cause) {
    if (cause instanceof NotAllowedError) return false
    throw cause
  }
}

/** Returns the packets of one direction whose fate the link has counted. */
export function accountedPackets(way: LinkReport['a_to_b']): number {
  return way.delivered + way.lost + way.lost_in_outage + way.dropped_by_queue + way.refused + way.held
}
