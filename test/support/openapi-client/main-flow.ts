import createClient from 'openapi-fetch'
import type { paths } from '#api'

// A complete session, written against the generated types only. The arguments are the address of the platform and
// the API keys of an operator and of an owner. Prints the result of each of them.
const [baseUrl, operatorKey, ownerKey] = process.argv.slice(2) as [string, string, string]
const as = (key: string) => createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } })
const [operator, owner] = [as(operatorKey), as(ownerKey)]

/** Returns the data of a response; throws its error text otherwise. */
function dataOf<T>(result: { data?: T; error?: { error: string } }): T {
  if (result.error) throw new Error(result.error.error)
  return result.data as T
}

const { robots } = dataOf(await operator.GET('/api/operator/available-robots'))
const robot = robots.find(({ status }) => status === 'AVAILABLE')
if (!robot) throw new Error('no robot is available')

const started = dataOf(await operator.POST('/api/sessions', { body: { robotId: robot.id } }))
const session = { params: { path: { id: started.sessionId } } }
dataOf(await operator.POST('/api/sessions/{id}/messages', { ...session, body: { body: 'Hello' } }))

const { messages } = dataOf(
  await owner.GET('/api/sessions/{id}/messages', {
    params: { ...session.params, query: { after: 0, limit: 10 } },
  }),
)
const ended = dataOf(await owner.PATCH('/api/sessions/{id}', { ...session, body: { action: 'end' } }))
const earnings = 'operator_earnings_cents' in ended ? 'shown' : 'hidden'

const again = await operator.POST('/api/sessions', { body: { robotId: started.sessionId } })
const refusal: string = again.error?.error ?? 'none'

// @ts-expect-error: an unknown action
const nonsense = () => owner.PATCH('/api/sessions/{id}', { ...session, body: { action: 'explode' } })
// @ts-expect-error: a body without the robot
const incomplete = () => operator.POST('/api/sessions', { body: {} })
// @ts-expect-error: an unknown path
const nowhere = () => owner.GET('/api/nowhere')
void [nonsense, incomplete, nowhere]

console.log(
  JSON.stringify({
    started: started.status,
    messages: messages.map(({ body, sender_role }) => [sender_role, body]),
    ended: [ended.status, ended.end_reason, earnings],
    refusal: [again.response.status, refusal],
  }),
)
