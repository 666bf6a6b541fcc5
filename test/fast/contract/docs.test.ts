import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  closeCodes,
  DropReason,
  encodeBinaryFrame,
  encodeOrderedFrame,
  eventTypes,
  NotificationType,
  OperatorFrame,
  PlatformEvent,
  RobotFrame,
  SessionAction,
  SessionEventType,
  SessionLogEvent,
  SessionStatus,
  shouldReconnect,
  ToDriverFrame,
  ToRobotFrame,
} from '@wheelhouse/protocol'
import { describe, expect, test } from 'vitest'
import { Env } from '../../../src/app/config.ts'
import { errorResponsesOf } from '../../../src/core/http/error-responses.ts'
import { eventKinds } from '../../../src/modules/payments/stripe-webhook.service.ts'
import { generateSecret, signatures } from '../../../src/modules/webhooks/webhook-signature.ts'
import { declaredEndpoints } from '../../../src/roles/api/declared-endpoints.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const examples = readdirSync(join(root, 'examples')).map((name) => join('examples', name))
const pages = ['.', 'docs', 'docs/decisions', 'packages/sdk', ...examples]
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.md'))

/** Returns a page without its code blocks. */
const proseOf = (file: string) => read(file).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')

/** Returns the anchors that GitHub generates for the headings of a page. */
function anchorsOf(file: string): string[] {
  return [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Returns the section under a heading of level 2. */
function section(file: string, heading: string): string {
  const [, text] = read(file).split(`\n## ${heading}\n`)
  expect(text, `${file} has no section ${heading}`).toBeDefined()
  return text!.split('\n## ')[0] as string
}

/** Returns the code spans in the first cell of each table row. */
const firstCells = (text: string) =>
  [...text.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, word]) => word as string),
  )

describe('links', () => {
  test('between documents lead to existing files and headings', () => {
    const links = pages.flatMap((page) =>
      [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({
        page,
        target: target as string,
      })),
    )
    const own = links.filter(({ target }) => !/^(https?|mailto):/.test(target))
    const dead = own.filter(({ page, target }) => {
      const [path, anchor] = target.split('#') as [string, string?]
      const file = path === '' ? page : relative(root, join(root, dirname(page), path))
      return !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor))
    })
    expect(own.length).toBeGreaterThan(30)
    expect(dead).toEqual([])
  })

  test('reach every page', () => {
    const text = pages.map(proseOf).join('\n')
    const docs = pages.filter((page) => /^docs\/[^/]+$/.test(page)).map((page) => page.slice('docs/'.length))
    expect(docs.filter((name) => !text.includes(name))).toEqual([])
  })
})

describe('ARCHITECTURE.md and CONTRIBUTING.md', () => {
  const folders = ['src', 'gateway', 'hub', 'packages', 'lab', 'tools', 'test']
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.includes('node_modules'))
      .map((path) => `/${join(folder, path)}`),
  )

  test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('name files and folders that exist: %s', (page) => {
    const named = [...proseOf(page).matchAll(/`([\w@./-]+(?:\.(?:ts|tsx|sql|mjs)|\/))`/g)].map(
      ([, path]) => path!,
    )
    const known = (path: string) =>
      existsSync(join(root, path)) ||
      paths.some((each) => `${each}/`.endsWith(`/${path.replace(/\/$/, '')}/`))
    expect(named.length).toBeGreaterThan(5)
    // The resource that CONTRIBUTING.md adds.
    const isExample = (path: string) => path.includes('label')
    expect(named.filter((path) => !known(path) && !isExample(path))).toEqual([])
  })
})

describe('installations', () => {
  const OURS = /^(wheelhouse|@wheelhouse\/[\w-]+)(@[^/]*)?$/
  const COMMAND =
    /\b(?:npx|pnpx|bunx|(?:npm|pnpm|yarn|bun) +(?:i|install|add|exec|x|dlx|create|init))\b((?: +[^\s|;&)]+)*)/g

  /** Returns the commands that would install one of our packages by name from a registry, which does not have it. */
  function unpublished(text: string): string[] {
    // Joins continued lines, and the command and arguments of a program in JSON.
    const plain = text
      .replaceAll(/\\\n\s*/g, ' ')
      .replaceAll(/"command":\s*"(\w+)",\s*"args":\s*\[([^\]]*)\]/g, (_, program: string, args: string) =>
        [program, ...args.matchAll(/"([^"]*)"/g)]
          .map((item) => (typeof item === 'string' ? item : item[1]))
          .join(' '),
      )
    return [...plain.matchAll(COMMAND)].flatMap(([command, rest = '']) => {
      const words = rest.split(/ +/).map((word) => word.replaceAll(/^["'`]+|["'`,.:]+$/g, ''))
      // npx passes the words after the name of the program on to it.
      const isRunner = /^(npx|pnpx|bunx)|(exec|x|dlx)\b/.test(command)
      const program = words.findIndex((word) => word !== '' && !word.startsWith('-'))
      const named = isRunner && program >= 0 ? words.slice(0, program + 1) : words
      return named.some((word) => OURS.test(word)) ? [command] : []
    })
  }

  const readable = /\.(md|ts|tsx|mjs|js|html|py|json|yml)$|^Dockerfile$/
  const files = ['README.md', 'CHANGELOG.md', 'Dockerfile', 'docs', 'packages', 'examples', 'src']
    .flatMap((name) =>
      existsSync(join(root, name)) && !/\.|^Dockerfile$/.test(name)
        ? readdirSync(join(root, name), { recursive: true }).map((path) => join(name, String(path)))
        : [name],
    )
    .filter((file) => readable.test(file) && !/node_modules|(^|\/)dist\//.test(file))

  test('use an address, because no registry has our packages', () => {
    expect(files.length).toBeGreaterThan(400)
    const found = files.flatMap((file) => unpublished(read(file)).map((command) => `${file}: ${command}`))
    expect(found).toEqual([])
  })

  test.each([
    'npx wheelhouse login',
    'npx --yes wheelhouse@latest mcp',
    'npm install @wheelhouse/sdk',
    'npm i wheelhouse',
    'npm install --global \\\n  wheelhouse',
    'run `npm install ws @wheelhouse/protocol@0.1.0`.',
    'pnpm add @wheelhouse/sdk',
    'npm exec wheelhouse',
    '{ "command": "npx", "args": ["wheelhouse", "mcp"] }',
  ])('by name are found: %s', (text) => expect(unpublished(text)).toHaveLength(1))

  test.each([
    'npx node packages/cli/main.ts wheelhouse',
    'npm install --allow-remote=root https://hub.example/downloads/wheelhouse-sdk.tgz',
    'npx --yes https://hub.example/downloads/wheelhouse-cli.tgz mcp',
    'npm install ./wheelhouse-sdk-0.1.0.tgz',
    'npm install && wheelhouse login',
  ])('by address or path are accepted: %s', (text) => expect(unpublished(text)).toEqual([]))

  test('in documents name files that the platform serves', () => {
    const named = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => [...read(file).matchAll(/\/downloads\/([\w.-]+\.tgz)/g)].map(([, name]) => name))
    expect(named.length).toBeGreaterThan(4)
    for (const name of named) expect(name).toMatch(/^wheelhouse-(cli|sdk|protocol)\.tgz$/)
  })
})

describe('settings', () => {
  // npm sets this one.
  const settings = Object.keys(Env.shape).filter((name) => name !== 'npm_lifecycle_event')

  test('are exactly those in the table of docs/configuration.md', () => {
    expect(firstCells(section('docs/configuration.md', 'Environment')).sort()).toEqual([...settings].sort())
  })

  test('are exactly those in .env.example', () => {
    const named = [...read('.env.example').matchAll(/^(?:# )?([A-Z\d_]+)=/gm)].map(([, name]) => name)
    expect(named.sort()).toEqual([...settings].sort())
  })
})

describe('docs/specification.md', () => {
  const page = 'docs/specification.md'
  const text = read(page)
  const endpoints = declaredEndpoints()
  const openApi = JSON.parse(read('docs/openapi.json')) as { components: { schemas: object } }

  test('lists exactly the kinds of session events', () => {
    expect(firstCells(section(page, 'Session events')).sort()).toEqual([...SessionEventType.options].sort())
  })

  test('lists exactly the kinds of notifications', () => {
    expect(firstCells(section(page, 'Notifications')).sort()).toEqual([...NotificationType.options].sort())
  })

  test('lists every action and every status of a session', () => {
    const steps = section(page, 'Session transitions')
    expect(firstCells(steps).sort()).toEqual([...SessionAction.options].sort())
    for (const status of SessionStatus.options) expect(steps).toContain(status)
  })

  test('lists every error status that a route declares', () => {
    const declared = new Set(endpoints.flatMap((spec) => [...errorResponsesOf(spec).keys()]))
    const listed = [...section(page, 'Errors').matchAll(/^\| (\d{3}) \|/gm)].map(([, status]) =>
      Number(status),
    )
    expect([...declared].filter((status) => !listed.includes(status))).toEqual([])
  })

  test('names existing components and routes', () => {
    const records = section(page, 'Records')
      .split('\n')
      .filter((line) => line.startsWith('| '))
    const named = records.flatMap((row) =>
      [...(row.split(' | ')[1] ?? '').matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name as string),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => !(name in openApi.components.schemas))).toEqual([])
    const routes = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    const unknown = [...text.matchAll(/`((?:GET|POST|PATCH|DELETE) \/api[^`?]*)[?]?[^`]*`/g)]
      .map(([, route]) => route as string)
      .filter((route) => !routes.includes(route))
    expect(unknown).toEqual([])
  })
})

test('docs/payments.md names exactly the events to subscribe to', () => {
  const named = section('docs/payments.md', 'Setting it up').matchAll(/`((?:\w+\.)+[\w.[\]]+)`/g)
  expect([...named].map(([, type]) => type as string).sort()).toEqual(Object.keys(eventKinds).sort())
})

describe('docs/webhooks.md', () => {
  const page = 'docs/webhooks.md'

  test('lists exactly the types of events', () => {
    expect(firstCells(section(page, 'Types of events')).sort()).toEqual([...eventTypes].sort())
  })

  test('shows a valid event', () => {
    const [, example] = /```json\n([\s\S]*?)```/.exec(read(page)) ?? []
    const event = PlatformEvent.parse(JSON.parse(example as string))
    expect(SessionLogEvent.parse(event.data)).toEqual(event.data)
  })

  test('verifies the signatures of the platform with its own code', async () => {
    const [, code] = /(function isGenuine[\s\S]*?\n\})\n```/.exec(read(page)) ?? []
    const isGenuine = new Function('createHmac', 'timingSafeEqual', `return ${code}`)(
      createHmac,
      timingSafeEqual,
    )
    const [old, secret] = [generateSecret(), generateSecret()]
    const timestamp = Math.floor(Date.now() / 1000)
    const message = { id: 'a', timestamp, body: '{"x":"ü"}' }
    const headers = {
      'webhook-id': 'a',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures([secret, old], message),
    }
    expect(isGenuine(secret, headers, message.body)).toBe(true)
    expect(isGenuine(old, headers, message.body)).toBe(true)
    expect(isGenuine(generateSecret(), headers, message.body)).toBe(false)
    expect(isGenuine(secret, headers, '{}')).toBe(false)
    expect(
      isGenuine(secret, { ...headers, 'webhook-timestamp': String(timestamp - 301) }, message.body),
    ).toBe(false)
  })
})

describe('the pages of the protocol', () => {
  const [overview, robots, operators] = [
    'docs/protocol.md',
    'docs/protocol-robot.md',
    'docs/protocol-operator.md',
  ]
  const typesOf = (union: { options: readonly { shape: { type: { value: string } } }[] }) =>
    union.options.map(({ shape }) => shape.type.value)
  /** Returns the first word of the first cell of each row in a section. */
  const words = (page: string, heading: string) =>
    firstCells(section(page, heading)).map((cell) => cell.split(' ')[0] as string)

  test('are all named by the overview', () => {
    const names = readdirSync(join(root, 'docs')).filter((name) => /^protocol-.*\.md$/.test(name))
    expect(names.length).toBeGreaterThan(3)
    expect(names.filter((name) => !read(overview).includes(`](${name})`))).toEqual([])
  })

  test('name every kind of log entry', () => {
    const text = section('docs/protocol-hub.md', 'Log entries')
    expect(SessionEventType.options.filter((kind) => !text.includes(`\`${kind}\``))).toEqual([])
  })

  test('list exactly the frames of both directions', () => {
    expect(words(robots, 'Robot → gateway').sort()).toEqual(typesOf(RobotFrame).sort())
    expect(words(robots, 'Gateway → robot').sort()).toEqual(typesOf(ToRobotFrame).sort())
    expect(words(operators, 'Operator or observer → gateway').sort()).toEqual(typesOf(OperatorFrame).sort())
    expect(words(operators, 'Gateway → operator or observer').sort()).toEqual(typesOf(ToDriverFrame).sort())
  })

  test('list every reason for a dropped control frame', () => {
    expect(words(operators, 'The rules of the control relay').sort()).toEqual([...DropReason.options].sort())
  })

  test('say for every close code whether to reconnect', () => {
    const rows = [
      ...section(overview, 'Close codes of the gateway').matchAll(/^\| (\d{4}) \|.*\| (yes|no)[^|]*\|$/gm),
    ]
    const documentedCodes = rows.map(([, code, again]) => [Number(code), again === 'yes'])
    const known = [1006, ...Object.values(closeCodes).map(({ code }) => code)]
    expect(documentedCodes).toEqual(known.map((code) => [code, shouldReconnect(code)]))
  })

  /** Returns the bytes at the beginning of each line. */
  const bytesOf = (example: string) => {
    const bytes = example
      .split('\n')
      .map((line) => /^ *((?:[0-9a-f]{2} )*[0-9a-f]{2})(?: {2}|$)/.exec(line)?.[1] ?? '')
    return Buffer.from(bytes.join('').replaceAll(' ', ''), 'hex')
  }

  test('show a valid header of a numbered frame', () => {
    const order = section('docs/protocol-data-channel.md', 'Order at the robot')
    const header = bytesOf(order.split('```')[3]!)
    expect(header).toEqual(Buffer.from(encodeOrderedFrame({ order: 42, after: 5 }, new Uint8Array())))
  })

  test('show a valid binary frame', () => {
    const frame = bytesOf(section(robots, 'Binary frames').split('```')[1]!)
    const payload = new DataView(new ArrayBuffer(8))
    payload.setFloat32(0, 0.5)
    payload.setFloat32(4, -0.25)
    const header = { kind: 1, flags: 0, ttlMs: 250, seq: 7, t: 1_795_167_060_000.5 }
    expect(frame).toEqual(Buffer.from(encodeBinaryFrame(header, new Uint8Array(payload.buffer))))
  })
})
