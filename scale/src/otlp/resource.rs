//! [`Named`]: names of services and machines, from the standard variables of the environment and
//! from recordings.

use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{
    EnvResourceDetector, ResourceDetector, TelemetryResourceDetector,
};

use super::receiver::variable;
use crate::arguments;
use crate::recordings::Recording;
use crate::seal::this_host;

/// Name of the service of the metrics, which concern all recordings.
const METRICS: &str = "metaspy";

/// Names of the services and of the machine, from the command and its environment.
pub struct Named {
    /// `OTEL_SERVICE_NAME`.
    service: Option<String>,
    /// `OTEL_RESOURCE_ATTRIBUTES`, which may name a service as well.
    attributes: Resource,
    host: String,
}

impl Named {
    /// Reads the names from the options of a command and from the environment.
    pub fn of(options: &arguments::Otlp) -> Self {
        Named {
            service: variable("OTEL_SERVICE_NAME"),
            attributes: EnvResourceDetector::new().detect(),
            host: options.host.clone().unwrap_or_else(this_host),
        }
    }

    /// Returns the resource of a recording's spans. The default name of the service is the program.
    pub fn of_spans(&self, recording: &Recording) -> Resource {
        let program = recording.store.program();
        let header = recording.store.header();
        let service =
            recording.process.rsplit_once('-').map_or(recording.process.as_str(), |(name, _)| name);
        self.resource(vec![
            KeyValue::new("service.name", service.to_owned()),
            KeyValue::new("service.instance.id", recording.process.clone()),
            KeyValue::new("host.name", self.host.clone()),
            KeyValue::new("process.pid", i64::from(header.pid)),
            KeyValue::new("process.executable.path", program.path.clone()),
            KeyValue::new("metaspy.run", recording.run.clone()),
        ])
    }

    /// Returns the resource of all metrics.
    pub fn of_metrics(&self) -> Resource {
        self.resource(vec![
            KeyValue::new("service.name", METRICS),
            KeyValue::new("host.name", self.host.clone()),
        ])
    }

    /// Returns a resource with default attributes. The attributes of the environment override them.
    fn resource(&self, defaults: Vec<KeyValue>) -> Resource {
        let of_environment =
            self.attributes.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let service =
            self.service.iter().map(|service| KeyValue::new("service.name", service.clone()));
        let builder = Resource::builder_empty().with_detector(Box::new(TelemetryResourceDetector));
        builder.with_attributes(defaults.into_iter().chain(of_environment).chain(service)).build()
    }
}
