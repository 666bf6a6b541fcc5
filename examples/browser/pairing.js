// Exchanges a pairing code of the console for the address and the token of a robot. A code works once.

/**
 * @param platform the origin of the platform
 * @returns `{name, url, token}`
 * @throws Error with the reason in plain words
 */
export async function pair(platform, code) {
  const response = await fetch(`${platform}/api/pairing`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const answer = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(answer.error ?? `The platform responded with ${response.status}.`)
  return { name: answer.name, url: answer.control_url, token: answer.robot_token }
}
