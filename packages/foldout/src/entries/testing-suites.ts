/**
 * Conformance suites for strategies, adapters, exposures, stores and filesystems. They run on vitest.
 *
 * @module foldout/testing/suites
 */
export { adapterSuite } from '../testing/adapter-suite.ts'
export type {
  AdapterCase,
  AdapterSuiteOptions,
  EarlyEnd,
  ModelPeer,
  ModelStep,
  ScriptedCall,
  StepUsage,
} from '../testing/adapter-peer.ts'
export { disclosureSuite, type DisclosureExpectations } from '../testing/disclosure-suite.ts'
export {
  exposureSuite,
  type ClientCall,
  type ExposureDriver,
  type ExposureExpectations,
} from '../testing/exposure-suite.ts'
export { engineSuite } from '../testing/engine-suite.ts'
export { filesystemSuite } from '../testing/filesystem-suite.ts'
export { hostSuite } from '../testing/hosts/host-suite.ts'
export type {
  HostAgent,
  HostDriver,
  HostRow,
  HostSetup,
  HostTurn,
  ScriptedModel,
  ScriptedReply,
  SeenRequest,
} from '../testing/hosts/host-driver.ts'
export { sessionStoreSuite } from '../testing/store-suite.ts'
