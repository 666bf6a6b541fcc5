import { type EmulatedLink, startLink } from '../../../test/support/network/link/emulated-link.ts'
import {
  inNamespace,
  ip,
  type Namespaces,
  NotAllowedError,
} from '../../../test/support/network/namespaces.ts'
import type { Profile } from '../../../test/support/network/profiles.ts'
import { callerOf, offer, readyPort, sendReady } from '../../../test/support/processes/rpc.ts'
import { type Lab, openLab } from '../../bench/lab.ts'
import { describeMachine } from '../../bench/system.ts'
import type { OperatorsProcess } from '../ends/operators.ts'
import type { RobotsProcess } from '../ends/robots.ts'
import { type Plan, profilesOf, transportsOf } from '../options.ts'
import { type Measured, profileText } from '../report.ts'
import { type RunParts, runTransport } from '../run.ts'
import type { Served } from '../transports/transport.ts'

// The part of the lab that runs in the namespace of the site: the platform, its peers, and the measurement.

/** Address of the site. Robots and operators reach it over their links. */
const HOST = '10.77.1.1'
const OPERATOR_LINK = { device: 'lab-operators', addresses: [HOST, '10.77.1.2'] } as const
const ROBOT_LINK = { device: 'lab-robots', addresses: ['10.77.2.1', '10.77.2.2'] } as const

const print = (text: string) => process.stdout.write(`${text}\n`)
let close: Lab['close'] = async () => {}

/** The result of the lab, or why this machine does not allow it. */
export type Outcome =
  | { readonly measured: readonly Measured[]; readonly machine: readonly string[] }
  | { readonly notAllowed: string }

interface Network {
  readonly operators: EmulatedLink
  readonly robots: EmulatedLink
}

/** Joins the namespaces. `a` is the outer end of each link, so that `a_to_b` leads to the site. */
async function joinNamespaces(lab: Lab, { site, operators, robots }: Namespaces): Promise<Network> {
  const link = async (
    outer: string,
    { device, addresses: [inner, address] }: typeof OPERATOR_LINK | typeof ROBOT_LINK,
  ) => {
    const started = await startLink(lab.children, { a: outer, b: site, device, addresses: [address, inner] })
    await ip('-n', outer, 'route', 'add', 'default', 'dev', device)
    return started
  }
  return { operators: await link(operators, OPERATOR_LINK), robots: await link(robots, ROBOT_LINK) }
}

/** Starts the processes of both ends in their namespaces for one profile. */
async function startEnds(lab: Lab, network: Network, namespaces: Namespaces, profile: Profile) {
  const run = (file: string, namespace: string) =>
    lab.children.run(`lab/netlab/ends/${file}.ts`, { through: inNamespace(namespace) })
  const operators = run('operators', namespaces.operators)
  const robots = run('robots', profile.robotBehindLink ? namespaces.robots : namespaces.site)
  await Promise.all([operators, robots].map(({ process }) => readyPort(process)))
  const parts: RunParts = {
    link: network.operators,
    robotLink: profile.robotBehindLink ? network.robots : undefined,
    operators: callerOf<OperatorsProcess>(operators.process),
    robots: callerOf<RobotsProcess>(robots.process),
    host: HOST,
  }
  return { parts, stop: () => Promise.all([operators.stop(), robots.stop()]) }
}

async function measureProfile(
  lab: Lab,
  {
    network,
    namespaces,
    served,
    profile,
    plan,
  }: {
    network: Network
    namespaces: Namespaces
    served: readonly Served[]
    profile: Profile
    plan: Plan
  },
): Promise<Measured> {
  const ends = await startEnds(lab, network, namespaces, profile)
  try {
    const results = []
    for (const [index, transport] of transportsOf(plan).entries()) {
      const run = { transport, served: served[index] as Served, profile, ...plan }
      results.push(await runTransport(ends.parts, run))
    }
    return { profile, results }
  } finally {
    await ends.stop()
  }
}

async function measureAll(lab: Lab, plan: Plan, namespaces: Namespaces): Promise<Outcome> {
  const network = await joinNamespaces(lab, namespaces)
  const machine = describeMachine(lab)
  print(`${machine.join('\n')}\n`)
  const served: Served[] = []
  for (const transport of transportsOf(plan)) served.push(await transport.serve({ lab, host: HOST }))
  const measured: Measured[] = []
  for (const profile of profilesOf(plan)) {
    const one = await measureProfile(lab, { network, namespaces, served, profile, plan })
    measured.push(one)
    print(profileText(one))
  }
  return { measured, machine }
}

const handlers = {
  async measure(plan: Plan, namespaces: Namespaces): Promise<Outcome> {
    try {
      const lab = await openLab(1, (closeLab) => {
        close = closeLab
      })
      return await measureAll(lab, plan, namespaces)
    } catch (cause) {
      if (cause instanceof NotAllowedError) return { notAllowed: cause.message }
      throw cause
    } finally {
      await close()
    }
  },
}
export type SiteProcess = typeof handlers

offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the outer process ends this one
process.once('SIGTERM', async () => {
  await close()
  process.exit(130)
})
sendReady(0)
