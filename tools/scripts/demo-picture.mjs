// Draws docs/demo.svg from a real run of the demo: node tools/scripts/demo-picture.mjs
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

const FONT_PX = 13
const LINE_PX = 18
const MARGIN_PX = 18
const COLUMNS = 104
const colours = { ROBOT: '#7ee787', OPERATOR: '#79c0ff', OWNER: '#ffa657' }
const shownSteps = ['Step 1', 'Step 2', 'Step 3', 'Step 5']

const run = spawnSync(process.execPath, ['tools/demo/run-scenario.ts'], {
  encoding: 'utf8',
  env: { ...process.env, NO_COLOR: '1' },
})
if (run.status !== 0) {
  process.stderr.write(run.stdout + run.stderr)
  process.exit(1)
}

const steps = run.stdout.split('\n\n').filter((block) => shownSteps.some((step) => block.startsWith(step)))
const lines = ['$ npm run demo', '', ...steps.flatMap((block) => [...block.trimEnd().split('\n'), ''])].slice(
  0,
  -1,
)

const escapeXml = (text) =>
  text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign])
const cut = (text) => (text.length > COLUMNS ? `${text.slice(0, COLUMNS - 1)}…` : text)

/** Draws one line as text: lines of a side in its colour, everything else plain. */
function draw(line, index) {
  const y = MARGIN_PX + FONT_PX + index * LINE_PX
  const role = /^[\s\d.ms]*(ROBOT|OPERATOR|OWNER)\b/.exec(line)?.[1]
  const heading = line.startsWith('Step') || line.startsWith('$')
  const fill = heading ? '#f0f6fc' : role ? colours[role] : '#8b949e'
  const weight = heading ? ' font-weight="bold"' : ''
  return `<text x="${MARGIN_PX}" y="${y}" fill="${fill}"${weight} xml:space="preserve">${escapeXml(cut(line))}</text>`
}

const width = Math.round(COLUMNS * FONT_PX * 0.602 + 2 * MARGIN_PX)
const height = lines.length * LINE_PX + 2 * MARGIN_PX
writeFileSync(
  'docs/demo.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${FONT_PX}">
<title>npm run demo: what robot, operator and owner see</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${lines.map(draw).join('\n')}
</svg>
`,
)
