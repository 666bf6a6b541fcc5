import type { Endpoint } from '../../../core/http/endpoint.ts'

/**
 * The tag of the routes below the first segment of a path. Public routes below other segments have the tag Public.
 */
const groups: Readonly<Record<string, string>> = {
  auth: 'Your account: profile, onboarding, avatar, API keys',
  client: 'For clients, who own robots: profile, robots, datasets, invoices, statistics',
  operator: 'For operators: profile, schedule, certifications, robots they may operate, statistics',
  invitations: 'Invitations to you, from organizations',
  sessions:
    'Teleoperation sessions: lifecycle, remote stops, gateway tickets, chat, log, extensions, ratings',
  'session-counts': 'The number of your sessions for each status',
  'session-robots': 'The robots of your sessions, to filter the sessions by',
  'session-exports': 'Exports of sessions that the platform writes in the background',
  recordings: 'Recordings of sessions: files, parts, links, bookmarks, who has read them',
  shared: 'Recordings of links, which anyone can replay until the links expire',
  events: 'The stream of numbered events of your account, your robots and your sessions',
  webhooks: 'Webhooks: endpoints for your events, their secrets and deliveries',
  notifications: 'Notifications: reading them, marking them as read',
  search: 'One search over your robots, your sessions, robots you may drive and, for administrators, users',
  payments: 'Payment methods, payout accounts, payouts, and the events of the payment provider',
  organizations: 'Organizations, who own robots: members, groups, audit log',
  admin:
    'For administrators: certifications, plans, inboxes, audit log, open sessions, gateways, background jobs',
}
const PUBLIC = {
  name: 'Public',
  description:
    'Routes that need no credential: health, statistics, prices, robot models, pairing, forms, avatars',
}

export interface Tag {
  readonly name: string
  readonly description: string
}

/** Returns the tag of an endpoint. */
export function tagOf({ path, access }: Endpoint): Tag {
  const word = path.split('/')[2] ?? ''
  const description = groups[word]
  if (description === undefined && access === 'public') return PUBLIC
  return { name: capitalised(word), description: description ?? `Routes under /api/${word}` }
}

/** Returns the tags of the endpoints without duplicates, in the order of their importance for readers. */
export function tagsOf(endpoints: readonly Endpoint[]): Tag[] {
  const tags = new Map(endpoints.map((spec) => [tagOf(spec).name, tagOf(spec)]))
  const known = [...Object.keys(groups).map(capitalised), PUBLIC.name]
  const rank = ({ name }: Tag) => (known.indexOf(name) + known.length + 1) % (known.length + 1)
  return [...tags.values()].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

/** Returns a readable and stable operation id from method and path: `getSession`, `postSessionMessages`. */
export function operationIdOf({ method, path }: Endpoint): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'api')
  const words = segments.flatMap((segment, index) => {
    if (isParameter(segment)) return []
    return (isParameter(segments[index + 1] ?? '') ? singular(segment) : segment).split(/\W+/)
  })
  return method + words.map(capitalised).join('')
}

/** Returns the sentence that describes who may call an endpoint. */
export function callersOf({ access }: Endpoint): string {
  if (access === 'public') return 'This needs no credential. A credential in the request is ignored.'
  const who = access.role ? `This needs the ${access.role} role` : 'This needs an account'
  const how = access.sessionOnly ? 'a session token; API keys are rejected' : 'a session token or an API key'
  const person = access.person ? '. Service accounts and keys of teams are rejected' : ''
  return `${who}, and ${how}${person}.`
}

export const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
const isParameter = (segment: string) => segment.startsWith('{')
const singular = (word: string) =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/([^s])s$/, '$1')
