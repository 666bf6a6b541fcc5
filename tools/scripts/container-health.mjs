// The health check of the container image: queries the readiness of the role that runs here.
const ports = {
  api: 'PORT',
  hub: 'HUB_PORT',
  gateway: 'GATEWAY_PORT',
  worker: 'WORKER_PORT',
  media: 'WORKER_PORT',
  recorder: 'WORKER_PORT',
}
const roles = (process.env.ROLES || 'api').split(',').map((role) => role.trim())
// A hub in the same process as an api shares its port.
const role = Object.keys(ports).find((name) => roles.includes(name))
const answer = await fetch(`http://127.0.0.1:${process.env[ports[role]]}/readyz`).catch(() => undefined)
process.exit(answer?.ok ? 0 : 1)
