//! Draws how costs grow.

use std::path::Path;

use plotters::prelude::*;

use crate::{
    Failure, Result,
    growth::{Curve, Curves},
    rows::as_f64,
};

/// Draws the curves, both axes logarithmic.
pub(crate) fn draw(path: &Path, curves: &Curves) -> Result<()> {
    let lines: [(&str, &Curve, RGBColor); 6] = [
        ("checkpoint (durable)", &curves.checkpoint, RGBColor(0, 114, 178)),
        ("fork (durable)", &curves.fork, RGBColor(86, 180, 233)),
        ("resolve", &curves.resolve, RGBColor(0, 158, 115)),
        ("log, last five", &curves.last_five, RGBColor(153, 153, 153)),
        ("LangGraph update_state, plain channel", &curves.langgraph_plain, RGBColor(213, 94, 0)),
        ("LangGraph update_state, delta channel", &curves.langgraph_delta, RGBColor(230, 159, 0)),
    ];
    let root = SVGBackend::new(path, (960, 600)).into_drawing_area();
    root.fill(&WHITE).map_err(|error| failure(&error))?;
    let mut chart = ChartBuilder::on(&root)
        .caption("Time of one operation by commits in the chain", ("sans-serif", 22))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(80)
        .build_cartesian_2d((10f64..1_200_000f64).log_scale(), (5f64..200_000f64).log_scale())
        .map_err(|error| failure(&error))?;
    chart
        .configure_mesh()
        .x_desc("commits in the chain")
        .y_desc("microseconds (median)")
        .x_label_formatter(&|commits| format!("{commits:.0}"))
        .y_label_formatter(&|micros| format!("{micros:.0}"))
        .light_line_style(WHITE)
        .draw()
        .map_err(|error| failure(&error))?;
    for (name, curve, color) in lines.into_iter().filter(|(_, curve, _)| !curve.is_empty()) {
        let points: Vec<(f64, f64)> = curve.iter().map(|(commits, micros)| (as_f64(*commits), *micros)).collect();
        chart
            .draw_series(LineSeries::new(points.clone(), color.stroke_width(2)))
            .map_err(|error| failure(&error))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
        chart
            .draw_series(points.into_iter().map(|point| Circle::new(point, 4, color.filled())))
            .map_err(|error| failure(&error))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.9))
        .border_style(RGBColor(200, 200, 200))
        .label_font(("sans-serif", 14))
        .draw()
        .map_err(|error| failure(&error))?;
    root.present().map_err(|error| failure(&error))
}

fn failure<E: std::error::Error + Send + Sync>(error: &DrawingAreaErrorKind<E>) -> Failure {
    error.to_string().into()
}
