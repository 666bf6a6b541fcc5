import type { Profile } from '../../test/support/network/profiles.ts'
import { figure } from '../bench/stats.ts'
import type { Figures } from './figures.ts'
import { limitOf, type Subjects } from './limits.ts'
import type { Plan } from './options.ts'
import type { Result } from './run.ts'

/** All transports on one profile. */
export interface Measured {
  readonly profile: Profile
  readonly results: readonly Result[]
}

interface Line {
  readonly what: string
  readonly figure: keyof Figures
  readonly text: (result: Result) => string
}

const number = (what: string, key: Exclude<keyof Figures, 'stopReasons'>): Line => ({
  what,
  figure: key,
  text: ({ figures }) => shown(figures[key]),
})
/** Shows ages to a tenth: their source is a clock of microseconds behind a link of milliseconds. */
const shown = (value: number) => (Number.isNaN(value) ? '–' : figure(Math.round(value * 10) / 10))

const lines: readonly Line[] = [
  {
    what: 'command age at the robot, p50 / p99 / max, ms',
    figure: 'ageP99Ms',
    text: ({ figures }) => [figures.ageP50Ms, figures.ageP99Ms, figures.ageMaxMs].map(shown).join(' / '),
  },
  number('commands executed a second', 'commandsPerS'),
  number('commands executed when older than their ttl', 'olderThanTtl'),
  number('stops', 'stops'),
  number('false stops', 'falseStops'),
  number('false stops in 10 minutes', 'falseStopsPerTenMinutes'),
  {
    what: 'recovery after an outage, p50 / max, ms',
    figure: 'recoveryMaxMs',
    text: ({ figures }) => [figures.recoveryP50Ms, figures.recoveryMaxMs].map(shown).join(' / '),
  },
  number('outages without recovery', 'unrecovered'),
]

interface Row {
  readonly what: string
  readonly values: readonly string[]
  readonly limit: string
  /** Whether Wheelhouse reaches the limit. */
  readonly mark: string
}

function rowsOf({ profile, results }: Measured): Row[] {
  const subjects = subjectsOf(results)
  return lines.map(({ what, figure: key, text }) => {
    const limit = limitOf(profile.name, key)
    const met = limit?.met(subjects)
    const mark = met === undefined ? '' : met ? '✓' : '✗'
    return { what, values: results.map(text), limit: limit?.goal ?? '', mark }
  })
}

/** Returns the figures of Wheelhouse by the role of its transports. */
function subjectsOf(results: readonly Result[]): Subjects {
  const figuresOf = (role: Result['role']) => results.find((result) => result.role === role)?.figures
  const [channels, fallback] = [figuresOf('default'), figuresOf('fallback')]
  return { ...(channels && { default: channels }), ...(fallback && { fallback }) }
}

/** Describes what a reader needs to judge the figures of one profile. */
function notesOf({ results }: Measured): string[] {
  return results.flatMap(({ transport, figures, unsent, lost, refused, longestPauseMs, link }) => {
    const notes = [
      ...entries('stops', figures.stopReasons),
      ...entries('refused', refused),
      ...(unsent > 0 ? [`${unsent} commands dropped by the operator's end`] : []),
      ...(lost > 0 ? [`${lost} connections lost`] : []),
      ...(figures.doubtfulStops > 0
        ? [`${figures.doubtfulStops} stops while a process of the lab did not run`]
        : []),
    ]
    const lab = `longest pause of the lab ${shown(longestPauseMs)} ms, of its link ${shown(link.latest_ms)} ms`
    return [`${transport}: ${[...notes, lab].join('; ')}`]
  })
}

const entries = (title: string, counts: Readonly<Record<string, number>>) => {
  const list = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  return list.length > 0 ? [`${title}: ${list.join(', ')}`] : []
}

/** Formats one profile for the terminal. */
export function profileText(measured: Measured): string {
  const header = ['', ...measured.results.map(({ transport }) => transport), 'limit']
  const table = [header, ...rowsOf(measured).map(({ what, values, limit }) => [what, ...values, limit])]
  const widths = header.map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length)))
  const marks = ['', ...rowsOf(measured).map(({ mark }) => mark)]
  const text = table.map((row, index) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0))
    return `${(marks[index] ?? '').padEnd(1)} ${cells.join('  ')}`.trimEnd()
  })
  const notes = notesOf(measured).map((note) => `    ${note}`)
  return [measured.profile.title, ...text, ...notes, ''].join('\n')
}

function profileMarkdown(measured: Measured): string {
  const names = measured.results.map(({ transport }) => transport)
  const table = [
    `| | ${names.join(' | ')} | Limit | |`,
    `|---|${names.map(() => '---|').join('')}---|---|`,
    ...rowsOf(measured).map(
      ({ what, values, limit, mark }) => `| ${[what, ...values, limit, mark].join(' | ')} |`,
    ),
  ]
  return [
    `### ${measured.profile.title}`,
    '',
    ...table,
    '',
    ...notesOf(measured).map((note) => `* ${note}`),
    '',
  ].join('\n')
}

/** Formats all profiles as a part of docs/benchmarks.md. */
export function labMarkdown(parts: {
  measured: readonly Measured[]
  machine: readonly string[]
  plan: Pick<Plan, 'command' | 'seconds' | 'pairs' | 'seed'>
  date: string
}): string {
  const { command, seconds, pairs, seed } = parts.plan
  const details = [
    ...parts.machine,
    `${parts.date}, \`${command}\``,
    `Each transport for ${seconds} s; ${pairs} operators, or one where the rate is limited most; seed ${seed}`,
  ].map((detail) => `* ${detail}`)
  return [preface, ...details, '', ...parts.measured.map(profileMarkdown), method].join('\n')
}

const preface = `## Network lab

Written by \`npm run netlab\`; do not edit. Operators drive robots with 50 commands a second through an emulated link, with
each transport in turn. Both ends and all servers run on one machine, so one monotonic clock measures the age of every
command.
`

const method = `### How the lab measures

* The lab creates three network namespaces: the site with the servers, the operators, and the robots. A program copies
  packets between TUN devices in them, with the delay, jitter, loss, rate, queue and outages of the profile. Many kernels
  lack netem, and netem has no outages: so the same link is used everywhere, and figures of different machines compare. All
  random numbers come from \`--seed\`. Jitter does not reorder packets.
* Delays, losses and rates are those of one direction. In an outage, Starlink holds packets in its queue, roaming loses
  them. An upload is UDP at twice the rate of the link.
* Several operators share a link where its rate allows; their figures are joined. In one profile the robots too are behind
  a link.
* The link and both ends run with a higher priority than the servers, because they represent other machines.
* TCP uses cubic, or reno where the system does not allow cubic in a namespace.
* Wheelhouse is \`src/main.ts\` with its defaults and both links of the SDK. Its operator resumes a paused session at once.
  The peers are a relay on bare \`ws\`, roslib with a server of the rosbridge protocol, and Socket.IO, with their defaults.
  Their robots obey every command and halt after 250 ms without one, which is Wheelhouse’s deadman.
* A command’s lifetime (ttl) is 250 ms, for all transports. The age is exact: from the operator’s call until the robot
  executes the command. The protocol’s [age](protocol-robot.md#age-and-clocks) has no common clock and starts with the fastest
  frame of a link.
* A stop is a moving robot that halts. The operators never pause: a stop is false unless an outage or an upload caused it. A
  stop right after a pause of the lab’s own processes counts as a stop, and not as a false one.
* Recovery is the time from the end of an outage or upload until a robot executes a command within its lifetime.
`
