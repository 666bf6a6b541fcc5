import type { MessageDefinition, MessageDefinitionField } from '@foxglove/message-definition'
import { ros1, ros2humble } from '@foxglove/rosmsg-msgs-common'
import { plainType, type RosMessage } from './source.ts'

const definitionsOf = {
  ros1: ros1 as Readonly<Record<string, MessageDefinition>>,
  ros2: ros2humble as Readonly<Record<string, MessageDefinition>>,
}

/**
 * Returns the definition of a common type, followed by those of the types of its fields.
 * @throws Error for a type that is not common
 */
export function definitionsFor(type: string, version: 'ros1' | 'ros2'): MessageDefinition[] {
  const found = new Map<string, MessageDefinition>()
  const add = (name: string) => {
    if (found.has(name)) return
    const definition = definitionsOf[version][name]
    if (!definition) throw new Error(`${name} is not a message type that this program can write`)
    found.set(name, definition)
    for (const field of definition.definitions) if (field.isComplex) add(plainType(field.type))
  }
  add(plainType(type))
  return [...found.values()]
}

/** Returns a message with a zero for each missing field, because the writers need all of them. */
export function withDefaults(message: RosMessage, definitions: readonly MessageDefinition[]): RosMessage {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]))
  const fill = (value: RosMessage, { definitions: fields }: MessageDefinition): RosMessage =>
    Object.fromEntries(fields.map((field) => [field.name, fieldOf(value[field.name], field)]))
  const fieldOf = (value: unknown, field: MessageDefinitionField): unknown => {
    const complex = field.isComplex ? byName.get(plainType(field.type)) : undefined
    if (field.isArray)
      return Array.isArray(value) ? value.map((item) => (complex ? fill(item, complex) : item)) : []
    if (complex) return fill((value ?? {}) as RosMessage, complex)
    return value ?? zeroOf(field.type)
  }
  const [root] = definitions
  return root ? fill(message, root) : message
}

function zeroOf(type: string): unknown {
  if (type === 'string') return ''
  if (type === 'bool') return false
  if (type === 'time' || type === 'duration') return { sec: 0, nsec: 0 }
  return type === 'int64' || type === 'uint64' ? 0n : 0
}
