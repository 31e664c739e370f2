import { isObject } from 'foldout-shared/values'
import { type Json, type JsonObject } from '../../core/json/json.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { MAX_SKILL_TOOLS } from './limits.ts'
import type { SkillText } from './skill.ts'

/** Where skills name the tools that they bring. */
const TOOL_FIELDS = ['io.modelcontextprotocol/tools', 'adk_additional_tools']

/** Reads what the fields of a skill say about its tools and about who opens it. */
export function readMetadata(
  fields: JsonObject,
): Pick<SkillText, 'tools' | 'allowedTools' | 'isForModels' | 'isForUsers'> {
  const metadata = getField(fields, 'metadata')
  const named = isObject(metadata) && TOOL_FIELDS.flatMap((name) => listNames(getField(metadata, name)))
  return {
    tools: [...new Set(named || [])].slice(0, MAX_SKILL_TOOLS),
    allowedTools: [...new Set(listNames(getField(fields, 'allowed-tools')))].slice(0, MAX_SKILL_TOOLS),
    isForModels: !isTrue(getField(fields, 'disable-model-invocation')),
    isForUsers: !isFalse(getField(fields, 'user-invocable')),
  }
}

export function getField(fields: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(fields, name)) return fields[name]
  return undefined
}

/** A list of names, or a text with names between blanks or commas. Blanks in parentheses belong to a name: `Bash(git *)`. */
function listNames(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each: unknown) => (typeof each === 'string' && listNames(each)) || [])
  if (typeof value !== 'string') return []
  const names: string[] = []
  let name = ''
  let depth = 0
  for (const character of toVisibleText(value)) {
    if (depth === 0 && /[\s,]/.test(character)) {
      names.push(name)
      name = ''
      continue
    }
    if (character === '(') depth += 1
    if (character === ')') depth = Math.max(0, depth - 1)
    name += character
  }
  return [...names, name].filter((each) => each !== '')
}

function isTrue(value: Json | undefined): boolean {
  return value === true || value === 'true'
}

function isFalse(value: Json | undefined): boolean {
  return value === false || value === 'false'
}
