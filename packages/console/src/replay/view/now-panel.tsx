import { recordingTopics, type TelemetrySchema } from '@wheelhouse/protocol'
import { useMemo } from 'react'
import { createSampleReader, labelAndUnit, type Reading, withUnit } from '../../telemetry/sample-reader.ts'
import { dropText, reasonText } from '../../texts/code-texts.ts'
import { percent } from '../../texts/percent.ts'
import { t } from '../../texts/texts.ts'
import { decimals } from '../../ui/format.ts'
import type { MomentReader } from '../data/moment-reader.ts'
import { eachNumber } from '../data/number-leaves.ts'
import type { Replay } from '../player/replay.ts'
import { commandAt } from './moment-values.ts'
import styles from './replay.module.css'
import { type StateSpan, spanAt } from './spans.ts'
import { usePosition } from './use-position.ts'

interface Props {
  readonly replay: Replay
  readonly schema: TelemetrySchema | null
  readonly states: readonly StateSpan[]
}

const MAX_COMMAND_VALUES = 6

const stateTexts: Readonly<Record<StateSpan['kind'], string>> = {
  stopped: t('replay.state.stopped'),
  paused: t('replay.state.paused'),
  offline: t('replay.state.offline'),
  halted: t('replay.state.halted'),
}

/** Shows everything that the recording has at the position: state, command and its decision, latency, all telemetry. */
export function NowPanel({ replay, schema, states }: Props) {
  const atMs = usePosition(replay)
  const reader = useMemo(() => createSampleReader(schema), [schema])
  const { moments } = replay
  const sample = moments.at(recordingTopics.telemetry, atMs)
  const readings = sample ? reader.readings(sample.value.data) : []
  return (
    <dl className={styles.values} data-testid="values">
      {[stateReading(states, atMs), ...driveReadings(moments, atMs), ...readings].map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function stateReading(states: readonly StateSpan[], atMs: number): Reading {
  const span = spanAt(states, atMs, 0)
  const reason = span?.stop ? reasonText(span.stop.reason) : ''
  const state = span ? stateTexts[span.kind] : t('replay.state.driving')
  return [t('replay.now.state'), reason ? t('replay.tip.because', { state, reason }) : state]
}

function driveReadings(moments: MomentReader, atMs: number): Reading[] {
  const command = commandAt(moments, atMs)
  const latency = moments.at(recordingTopics.latency, atMs)?.value
  const limits = moments.at(recordingTopics.limits, atMs)?.value
  const decision = command?.dropped === undefined ? t('replay.now.passed') : dropText(command.dropped)
  return [
    [t('replay.now.command'), command ? commandText(command.value.data) : '–'],
    [t('replay.now.decision'), command ? decision : '–'],
    [t('replay.now.operatorLatency'), msText(latency?.operator_ms)],
    [t('replay.now.robotLatency'), msText(latency?.robot_ms)],
    ...(typeof limits?.speed_scale === 'number'
      ? [[t('replay.plots.limit'), percent(limits.speed_scale)] as const]
      : []),
  ]
}

const msText = (ms: unknown) => (typeof ms === 'number' ? withUnit(Math.round(ms), 'ms') : '–')

/** Returns the numbers of a command, such as `0.50 m/s, 0.20 rad/s`. */
function commandText(data: unknown): string {
  const values: string[] = []
  eachNumber(data, (path, value) =>
    values.push(withUnit(decimals(value, 2), labelAndUnit(path.split('.')).unit)),
  )
  return values.length === 0 ? '–' : values.slice(0, MAX_COMMAND_VALUES).join(', ')
}
