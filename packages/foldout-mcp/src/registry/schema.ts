import { z } from 'zod'

const inputFields = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
  value: z.string().optional(),
  choices: z.array(z.string()).optional(),
  format: z.string().optional(),
}

const variable = z.looseObject(inputFields)
const variables = z.record(z.string(), variable).optional()

const input = z.looseObject({ ...inputFields, variables })
const namedInput = z.looseObject({ ...inputFields, variables, name: z.string() })
const argument = z.looseObject({
  ...inputFields,
  variables,
  type: z.enum(['positional', 'named']).default('positional'),
  name: z.string().optional(),
  valueHint: z.string().optional(),
})

const remote = z.looseObject({
  type: z.string(),
  url: z.string(),
  headers: z.array(namedInput).default([]),
  variables,
})

const packaged = z.looseObject({
  registryType: z.string(),
  identifier: z.string(),
  version: z.string().optional(),
  runtimeHint: z.string().optional(),
  runtimeArguments: z.array(argument).default([]),
  packageArguments: z.array(argument).default([]),
  environmentVariables: z.array(namedInput).default([]),
  transport: z.looseObject({ type: z.string() }).optional(),
})

/** A server as the registry of MCP servers describes it. */
export const serverJsonSchema = z.looseObject({
  name: z.string(),
  description: z.string().optional(),
  packages: z.array(packaged).default([]),
  remotes: z.array(remote).default([]),
})

export type Input = z.output<typeof input>
export type Argument = z.output<typeof argument>
export type Package = z.output<typeof packaged>
export type Remote = z.output<typeof remote>
